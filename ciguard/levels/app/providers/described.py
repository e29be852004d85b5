"""Writes answers at the paths that the description of a provider has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal
from ciguard.levels.app.providers.description import (
    TASKS_WITHOUT_INPUTS,
    Field,
    MediaKind,
    RecognitionTask,
    kind_of,
)
from ciguard.levels.app.providers.recognised import DIGITS, ENTITY_KINDS, NEUTRAL, likeliest_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation, ProviderDescription
    from ciguard.levels.app.providers.recognised import (
        BoundingBox,
        Entity,
        Scored,
        ScoredSentence,
        Size,
        Word,
    )

_STEP = 0.05
"""Distance of scores from a number in a condition."""


def described_result(
    operation: Operation, key: str, score: float, beside: Mapping[str, Json] | None = None
) -> Json:
    """Return one result.

    Args:
        operation: operation whose description has the paths of the fields.
        key: recognised label or text.
        score: score in the range of the service.
        beside: further fields; fields that the message does not have are dropped later.
    """
    record: dict[str, Json] = dict(beside or {})
    fields = operation.fields or {}
    for field, value in ((Field.KEY, key), (Field.SCORE, score)):
        if field in fields:
            _put(record, fields[field].split("."), value)
    return record


def _put(record: Json, path: Sequence[str], value: object) -> None:
    """Set a field by its path; a number in the path is an index of a list."""
    first, *rest = path
    if not rest:
        record[first] = value
    elif rest[0].isdecimal():
        items = record.setdefault(first, [{}])
        _put(items[int(rest[0])], rest[1:], value)
    else:
        _put(record.setdefault(first, {}), rest, value)


class DescribedMessages:
    """Writes answers at the paths of a description; a base class for small providers.

    All operations of a task answer as the first one does. A sentiment is one of three words, with a
    score from -1 to 1. Faces and speech have messages of their own; see `Provider`.
    """

    def __init__(self, description: ProviderDescription) -> None:
        operations = [
            operation for client in description.clients for operation in client.operations.values()
        ]
        self._operations = {operation.task: operation for operation in reversed(operations)}
        self.CLIENTS = frozenset(client.name for client in description.clients)
        self.TASKS = frozenset(self._operations) - TASKS_WITHOUT_INPUTS
        self.KINDS: Mapping[str, str] = {kind: kind for kind in ENTITY_KINDS}

    def topic(self, text: str) -> str:
        """Return a category unchanged."""
        return text

    def label_answer(self, found: Scored) -> Json:
        """Return labels, the likeliest first."""
        return self.listed_answer(self._operations[RecognitionTask.LABELS], found)

    def object_answer(self, found: Scored, boxes: Sequence[BoundingBox]) -> Json:
        """Return objects, the likeliest first, without their boxes."""
        del boxes
        return self.listed_answer(self._operations[RecognitionTask.OBJECTS], found)

    def category_answer(self, found: Scored) -> Json:
        """Return topics, the likeliest first."""
        return self.listed_answer(self._operations[RecognitionTask.CATEGORIES], found)

    def text_answer(self, lines: Sequence[Sequence[Word]], size: Size) -> Json:
        """Return the lines of text."""
        del size
        operation = self._operations[RecognitionTask.TEXT]
        return _answer(
            operation,
            [
                _result(
                    operation,
                    " ".join(word.text for word in line),
                    min(word.confidence for word in line),
                )
                for line in lines
            ],
        )

    def sentiment_answer(self, score: float, scored_sentences: Sequence[ScoredSentence]) -> Json:
        """Return the sentiment of a text and its score."""
        del scored_sentences
        operation = self._operations[RecognitionTask.SENTIMENT]
        feeling = "positive" if score > NEUTRAL else "negative" if score < -NEUTRAL else "neutral"
        return _answer(operation, [described_result(operation, feeling, round(score, DIGITS))])

    def sentiments_around(self, numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
        """Yield sentiments with scores around each number, and at it."""
        near = {edge for n in numbers for edge in (n - _STEP, n, n + _STEP) if -1 <= edge <= 1}
        for score in sorted({-0.9, 0.0, 0.9, *near}):
            yield f"score {score:g}", self.sentiment_answer(score, [])

    def entity_answer(self, entities: Sequence[Entity]) -> Json:
        """Return the entities in a text, the most salient first."""
        operation = self._operations[RecognitionTask.ENTITIES]
        kind = (operation.fields or {}).get(Field.KIND, "")
        results = []
        for entity in sorted(entities, key=lambda entity: -entity.salience):
            result = _result(operation, entity.name, entity.confidence)
            if kind:
                _put(result, kind.split("."), entity.kind)
            results.append(result)
        return _answer(operation, results)

    def listed_answer(self, operation: Operation, found: Scored) -> Json:
        """Return results with a name and a score, the likeliest first."""
        return _answer(
            operation, [_result(operation, *scored) for scored in likeliest_first(found)]
        )

    def refusals(self, operation: Operation) -> Sequence[Refusal]:
        """Return the refusals: rate limits, and invalid images."""
        often = Refusal("Too many requests.", Code.RESOURCE_EXHAUSTED, is_of_content=False)
        if kind_of(operation.task) is MediaKind.IMAGE:
            return often, Refusal("This is no image.", Code.INVALID_ARGUMENT)
        return (often,)


def _result(operation: Operation, key: str, share: float) -> Json:
    """Return a result with its score, a share of the maximum of the service."""
    maximum = operation.between[1] if operation.between else 1.0
    return described_result(operation, key, round(maximum * share, DIGITS))


def _answer(operation: Operation, results: list[Json]) -> Json:
    """Return results at their path in an answer; the first one if it is the answer itself."""
    if not operation.records:
        return results[0] if results else {}
    if not operation.way:
        return results
    answer: dict[str, Json] = {}
    _put(answer, operation.way, results)
    return answer
