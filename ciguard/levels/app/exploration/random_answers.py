"""Stub responses with randomly drawn results, in the services' message formats."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.answers import (
    common_result_of,
    content_of,
    max_score_of,
    response_judging_safety,
)
from ciguard.levels.app.exploration.stub_response import StubResponse
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import BoundingBox, Face, ScoredSentence
from ciguard.levels.app.providers.registered import (
    face_messages_of,
    messages_of,
    safety_messages_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_MAX_SHOWN = 3
_SIZE = (640, 640)
_SENTENCE = "It is."
UNLIKELY = "VERY_UNLIKELY"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedItem:
    """One result in a stub response."""

    key: str
    """Name or text; unused for sentiment and faces."""
    score: float
    """Score from 0 to 1; for sentiment from -1 to 1."""
    kind: str = ""
    """Type of an entity; empty for other results."""
    likelihoods: Mapping[str, str] = field(default_factory=dict)
    """Attribute of a face, or kind of unsafe content, → its likelihood; else empty."""
    age: int = 30
    """Age of a face, in years."""
    width: float = 18
    """Width and height of a face or an object, in pixels."""
    left: float = 2
    """Distance of a face or an object from the left and upper edges, in pixels."""


def response_recognising(operation: Operation, results: Sequence[RecognisedItem]) -> StubResponse:
    """Return a stub response that recognises results.

    Args:
        operation: the operation that answers.
        results: the results that it recognises.
    """
    shown = (_title(operation, item) for item in results[:_MAX_SHOWN])
    title = "; ".join(shown) or "nothing recognised"
    if len(results) > _MAX_SHOWN:
        title = f"{title}; and {len(results) - _MAX_SHOWN} more"
    if operation.task is RecognitionTask.SAFETY:
        judged = results[0].likelihoods if results else {}
        return replace(response_judging_safety(operation, judged), is_random=True)
    is_named = operation.task not in {RecognitionTask.SENTIMENT, RecognitionTask.FACES}
    keys = tuple(item.key for item in results if item.key) if is_named else ()
    kind = results[0].kind if results else ""
    content = _content(operation, results)
    if operation.judges_safety and results:
        judged = safety_messages_of(operation).safety_answer(results[0].likelihoods)
        content = {**content, **judged}
    return StubResponse(operation, title, content, keys, kind, is_random=True)


def _face(item: RecognisedItem) -> Face:
    return Face(_box(item), item.score, item.likelihoods, item.age, item.score)


def _box(item: RecognisedItem) -> BoundingBox:
    return BoundingBox(item.left, item.left, item.width, item.width)


def _title(operation: Operation, item: RecognisedItem) -> str:
    match operation.task:
        case RecognitionTask.FACES:
            shown = [
                attribute
                for attribute, likelihood in item.likelihoods.items()
                if likelihood != UNLIKELY
            ]
            return f"a face that shows {', '.join(shown) or 'nothing'}, {item.age} years old"
        case RecognitionTask.SENTIMENT:
            return f"a sentence, sentiment {item.score:g}"
        case RecognitionTask.TEXT:
            return repr(item.key)
        case _:
            return f"{item.key!r}, score {max_score_of(operation) * item.score:g}"


def _content(operation: Operation, results: Sequence[RecognisedItem]) -> Json:
    match operation.task:
        case RecognitionTask.SENTIMENT:
            step = len(_SENTENCE) + 1
            sentences = [
                ScoredSentence(_SENTENCE, step * index, item.score)
                for index, item in enumerate(results)
            ]
            mean = sum(item.score for item in results) / max(1, len(results))
            return messages_of(operation).sentiment_answer(mean, sentences)
        case RecognitionTask.FACES:
            return face_messages_of(operation).face_answer(list(map(_face, results)), _SIZE)
        case RecognitionTask.LANGUAGE if not results:  # a text always has a language
            return content_of(operation, [(common_result_of(operation), 1.0)])
        case _:
            named_items = [item for item in results if item.key.strip()]
            is_topic = operation.task is RecognitionTask.CATEGORIES
            spelling = messages_of(operation).topic if is_topic else str
            scored = [(spelling(item.key), item.score) for item in named_items]
            if operation.task is RecognitionTask.OBJECTS:
                boxes = [_box(item).of(_SIZE) for item in named_items]
                return messages_of(operation).object_answer(scored, boxes)
            return content_of(operation, scored, [item.kind for item in named_items if item.kind])
