"""Writes answers whose fields are at the paths in a provider's description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal
from ciguard.levels.app.providers.description import (
    TASKS_WITHOUT_INPUTS,
    Field,
    MediaKind,
    RecognitionTask,
    media_kind,
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
    """Return one result of an answer, with its fields at the paths of the description.

    Args:
        operation: operation whose description has the paths of the fields.
        key: recognised label or text.
        score: score in the range of the service.
        beside: further fields; the client drops those that the service's message does not have.
    """
    record: dict[str, Json] = dict(beside or {})
    fields = operation.fields or {}
    for field, value in ((Field.KEY, key), (Field.SCORE, score)):
        if field in fields:
            _put(record, fields[field].split("."), value)
    return record


def described_answer(operation: Operation, results: list[Json]) -> Json:
    """Return an answer with the results at the path of the description.

    If the description has no path, the answer is the first result, or empty without results.
    """
    if not operation.records:
        return results[0] if results else {}
    if not operation.results_path:
        return results
    answer: dict[str, Json] = {}
    _put(answer, operation.results_path, results)
    return answer


def _put(record: Json, path: Sequence[str], value: object) -> None:
    """Set the field at a path; a number in the path is an index of a list."""
    first, *rest = path
    if not rest:
        record[first] = value
    elif rest[0].isdecimal():
        items = record.setdefault(first, [{}])
        _put(items[int(rest[0])], rest[1:], value)
    else:
        _put(record.setdefault(first, {}), rest, value)


class DescribedMessages:
    """Writes answers with fields at the paths of a description; a base class for small providers.

    If several operations have one task, their answers use the paths of the first one. A sentiment
    is `positive`, `negative` or `neutral`, with a score from -1 to 1. Faces and speech have writers
    of their own; see `Provider`.
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

    def label_answer(self, scored_results: Scored) -> Json:
        """Return an answer with labels, the likeliest first."""
        return self.listed_answer(self._operations[RecognitionTask.LABELS], scored_results)

    def object_answer(self, scored_results: Scored, boxes: Sequence[BoundingBox]) -> Json:
        """Return an answer with objects, the likeliest first, without their boxes."""
        del boxes
        return self.listed_answer(self._operations[RecognitionTask.OBJECTS], scored_results)

    def category_answer(self, scored_results: Scored) -> Json:
        """Return an answer with topics, the likeliest first."""
        return self.listed_answer(self._operations[RecognitionTask.CATEGORIES], scored_results)

    def text_answer(self, lines: Sequence[Sequence[Word]], size: Size) -> Json:
        """Return an answer with the lines of text."""
        del size
        operation = self._operations[RecognitionTask.TEXT]
        return described_answer(
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
        """Return an answer with the sentiment of a text and its score."""
        del scored_sentences
        operation = self._operations[RecognitionTask.SENTIMENT]
        sentiment = "positive" if score > NEUTRAL else "negative" if score < -NEUTRAL else "neutral"
        return described_answer(
            operation, [described_result(operation, sentiment, round(score, DIGITS))]
        )

    def sentiments_around(self, numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
        """Yield sentiments with a score just below, at and just above each number."""
        near = {edge for n in numbers for edge in (n - _STEP, n, n + _STEP) if -1 <= edge <= 1}
        for score in sorted({-0.9, 0.0, 0.9, *near}):
            yield f"score {score:g}", self.sentiment_answer(score, [])

    def entity_answer(self, entities: Sequence[Entity]) -> Json:
        """Return an answer with the entities in a text, the most salient first."""
        operation = self._operations[RecognitionTask.ENTITIES]
        kind = (operation.fields or {}).get(Field.KIND, "")
        results = []
        for entity in sorted(entities, key=lambda entity: -entity.salience):
            result = _result(operation, entity.name, entity.confidence)
            if kind:
                _put(result, kind.split("."), entity.kind)
            results.append(result)
        return described_answer(operation, results)

    def listed_answer(self, operation: Operation, scored_results: Scored) -> Json:
        """Return an answer whose results have a name and a score, the likeliest first."""
        return described_answer(
            operation, [_result(operation, *scored) for scored in likeliest_first(scored_results)]
        )

    def refusals(self, operation: Operation) -> Sequence[Refusal]:
        """Return the refusals: exceeded rate limits and, for images, invalid images."""
        rate_limit = Refusal(
            "Too many requests.", Code.RESOURCE_EXHAUSTED, depends_on_content=False
        )
        if media_kind(operation.task) is MediaKind.IMAGE:
            return rate_limit, Refusal("This is not an image.", Code.INVALID_ARGUMENT)
        return (rate_limit,)


def _result(operation: Operation, key: str, share: float) -> Json:
    """Return a result whose score is a share of the service's maximum score."""
    maximum = operation.between[1] if operation.between else 1.0
    return described_result(operation, key, round(maximum * share, DIGITS))
