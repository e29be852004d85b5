"""Answers that were solved for, as services say them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from ciguard.applications.exploring.answers import Answered, answers_to, written
from ciguard.applications.providers.description import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.applications.providers.description import Operation
    from ciguard.applications.solving.symbols import Recognised
    from ciguard.domain import Json

_SHOWN = 3


def solved_answer(operation: Operation, results: Sequence[Recognised]) -> Answered:
    """Return an answer with these results; what they leave out is as in a plain answer.

    Args:
        operation: that is asked.
        results: of a text, all of it first and then its lines.
    """
    title = "; ".join(one.title for one in results[:_SHOWN]) or "nothing recognised"
    if len(results) > _SHOWN:
        title = f"{title}; and {len(results) - _SHOWN} more"
    keys = tuple(one.key for one in results if one.key)
    keys += tuple(shown for one in results for shown in one.shown)
    kind = results[0].kind if results else ""
    content = _content(operation, results)
    return Answered(operation, title, content, keys, kind, is_solved=True)


def _content(operation: Operation, results: Sequence[Recognised]) -> Json:
    if not results:
        return {}
    if operation.task is Task.TEXT:
        lines = [one.key for one in results]
        content = written(operation, lines[1:] or lines).content
        content[operation.records] = content[operation.records][: len(results)]
        return content
    plain = answers_to(operation, ())[1].content
    if not operation.records:
        content = _with(plain, results[0].fields)
        for sentence in content.get("sentences", []):  # a text of one sentence
            sentence["sentiment"] = content["document_sentiment"]
        return content
    template = plain[operation.records][0]
    return {**plain, operation.records: [_with(template, one.fields) for one in results]}


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
