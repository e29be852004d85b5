"""Answers that were solved for, as services say them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from ciguard.applications.exploring.answers import Answered, answers_to, content_of, most_of
from ciguard.applications.providers.description import Task
from ciguard.applications.providers.registered import messages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.applications.providers.description import Operation
    from ciguard.applications.solving.answers import Recognised
    from ciguard.domain import Json

_SHOWN = 3
_SURE = 0.95


def solved_answer(operation: Operation, results: Sequence[Recognised]) -> Answered:
    """Return an answer with these results; what they leave out is as in a plain answer.

    Args:
        operation: that is asked.
        results: of a text, its lines.
    """
    title = "; ".join(one.title for one in results[:_SHOWN]) or "nothing recognised"
    if len(results) > _SHOWN:
        title = f"{title}; and {len(results) - _SHOWN} more"
    keys = tuple(one.key for one in results if one.key)
    kind = results[0].kind if results else ""
    content = _content(operation, results)
    return Answered(operation, title, content, keys, kind, is_solved=True)


def _content(operation: Operation, results: Sequence[Recognised]) -> Json:
    match operation.task:
        case Task.SENTIMENT:
            (document,) = results
            plain = answers_to(operation, ())[0].content
            return messages_of(operation).about_one_sentence(_with(plain, document.fields))
        case Task.FACES:
            nobody, somebody = (one.content for one in answers_to(operation, ())[:2])
            faces = [one.fields for one in results]
            return _each(somebody, operation.way, faces) if faces else nobody
        case _:
            most = most_of(operation)
            found = [(one.key, _SURE if one.score is None else one.score / most) for one in results]
            kinds = [one.kind for one in results if one.kind]
            return content_of(operation, found, kinds)


def _each(answer: Json, way: Sequence[str], results: Sequence[Json]) -> Json:
    """Return an answer with other results in the place of its first one, at the end of a way."""
    if not way:
        return [_with(answer[0], one) for one in results]
    return {**answer, way[0]: _each(answer[way[0]], way[1:], results)}


def _with(template: Json, fields: Json) -> Json:
    """Return a message with other fields, however deep they are."""
    if isinstance(template, dict) and isinstance(fields, dict):
        return {
            **copy.deepcopy(template),
            **{n: _with(template.get(n), v) for n, v in fields.items()},
        }
    if isinstance(template, list) and isinstance(fields, list):
        return [_with(*pair) for pair in zip(template, fields, strict=True)]
    return fields
