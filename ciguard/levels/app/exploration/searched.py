"""Answers that were drawn, as services say them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.answers import StubResponse, content_of, most_of, usual_for
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import BoundingBox, Face, Felt
from ciguard.levels.app.providers.registered import face_messages_of, messages_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_SHOWN = 3
_SIZE = (640, 640)
_SENTENCE = "It is."
UNLIKELY = "VERY_UNLIKELY"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedItem:
    """One thing that a service recognises."""

    key: str
    """A name or text; unused of feelings and faces."""
    score: float
    """0 to 1; of a feeling -1 to 1."""
    kind: str = ""
    """Of an entity."""
    likelihoods: Mapping[str, str] = field(default_factory=dict)
    """Of what a face shows."""
    age: int = 30
    width: float = 18
    """Of a face, in pixels."""


def answer_of(operation: Operation, results: Sequence[RecognisedItem]) -> StubResponse:
    """Return an answer with these results.

    Args:
        operation: that is asked.
        results: what it recognises.
    """
    shown = (_title(operation, one) for one in results[:_SHOWN])
    title = "; ".join(shown) or "nothing recognised"
    if len(results) > _SHOWN:
        title = f"{title}; and {len(results) - _SHOWN} more"
    is_named = operation.task not in {RecognitionTask.SENTIMENT, RecognitionTask.FACES}
    keys = tuple(one.key for one in results if one.key) if is_named else ()
    kind = results[0].kind if results else ""
    content = _content(operation, results)
    return StubResponse(operation, title, content, keys, kind, is_searched=True)


def _face(one: RecognisedItem) -> Face:
    box = BoundingBox(2, 2, one.width, one.width)
    return Face(box, one.score, one.likelihoods, one.age, one.score)


def _title(operation: Operation, one: RecognisedItem) -> str:
    match operation.task:
        case RecognitionTask.FACES:
            shown = [what for what, likely in one.likelihoods.items() if likely != UNLIKELY]
            return f"a face that shows {', '.join(shown) or 'nothing'}, {one.age} years old"
        case RecognitionTask.SENTIMENT:
            return f"a sentence, felt {one.score:g}"
        case RecognitionTask.TEXT:
            return repr(one.key)
        case _:
            return f"{one.key!r}, score {most_of(operation) * one.score:g}"


def _content(operation: Operation, results: Sequence[RecognisedItem]) -> Json:
    match operation.task:
        case RecognitionTask.SENTIMENT:
            step = len(_SENTENCE) + 1
            felt = [Felt(_SENTENCE, step * at, one.score) for at, one in enumerate(results)]
            mean = sum(one.score for one in results) / max(1, len(results))
            return messages_of(operation).sentiment_answer(mean, felt)
        case RecognitionTask.FACES:
            return face_messages_of(operation).face_answer(list(map(_face, results)), _SIZE)
        case RecognitionTask.LANGUAGE if not results:  # a text is in some language always
            return content_of(operation, [(usual_for(operation), 1.0)])
        case _:
            named = [one for one in results if one.key.strip()]
            is_topic = operation.task is RecognitionTask.CATEGORIES
            spelled = messages_of(operation).topic if is_topic else str
            found = [(spelled(one.key), one.score) for one in named]
            return content_of(operation, found, [one.kind for one in named if one.kind])
