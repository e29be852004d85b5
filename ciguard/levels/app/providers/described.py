"""Results with their fields where a provider's description says that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal
from ciguard.levels.app.providers.description import (
    NOT_MADE,
    Field,
    MediaKind,
    RecognitionTask,
    kind_of,
)
from ciguard.levels.app.providers.recognised import DIGITS, ENTITY_KINDS, NEUTRAL, ordered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation, ProviderDescription
    from ciguard.levels.app.providers.recognised import (
        BoundingBox,
        Entity,
        Felt,
        Scored,
        Size,
        Word,
    )

_STEP = 0.05
"""Beside a number that is compared with."""


def described(
    operation: Operation, key: str, score: float, beside: Mapping[str, Json] | None = None
) -> Json:
    """Return one result.

    Args:
        operation: whose description says where its fields are.
        key: what is recognised.
        score: how likely that is, as the service says it.
        beside: what else it says; what a message has no field for is left out when it is made.
    """
    record: dict[str, Json] = dict(beside or {})
    fields = operation.fields or {}
    for field, value in ((Field.KEY, key), (Field.SCORE, score)):
        if field in fields:
            _put(record, fields[field].split("."), value)
    return record


def _put(record: Json, path: Sequence[str], value: object) -> None:
    """Set a field by its path; a number in it is the place in a list."""
    first, *rest = path
    if not rest:
        record[first] = value
    elif rest[0].isdecimal():
        items = record.setdefault(first, [{}])
        _put(items[int(rest[0])], rest[1:], value)
    else:
        _put(record.setdefault(first, {}), rest, value)


class DescribedMessages:
    """Writes answers where a description says that results lie; base of a small provider's.

    Of operations for one task, all answer as the first does. A feeling is one of three words, and
    its score goes from -1 to 1. Faces and speech have messages of their own, see `Provider`.
    """

    def __init__(self, description: ProviderDescription) -> None:
        several = [one for client in description.clients for one in client.operations.values()]
        self._operations = {one.task: one for one in reversed(several)}
        self.CLIENTS = frozenset(client.name for client in description.clients)
        self.TASKS = frozenset(self._operations) - NOT_MADE
        self.KINDS: Mapping[str, str] = {kind: kind for kind in ENTITY_KINDS}

    def topic(self, text: str) -> str:
        """Return a category as it is."""
        return text

    def label_answer(self, found: Scored) -> Json:
        """Return labels, the likeliest first."""
        return self.listed_answer(self._operations[RecognitionTask.LABELS], found)

    def object_answer(self, found: Scored, boxes: Sequence[BoundingBox]) -> Json:
        """Return objects, the likeliest first; where they are is not told."""
        del boxes
        return self.listed_answer(self._operations[RecognitionTask.OBJECTS], found)

    def category_answer(self, found: Scored) -> Json:
        """Return topics, the likeliest first."""
        return self.listed_answer(self._operations[RecognitionTask.CATEGORIES], found)

    def text_answer(self, lines: Sequence[Sequence[Word]], size: Size) -> Json:
        """Return the lines that are written."""
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

    def sentiment_answer(self, score: float, felt: Sequence[Felt]) -> Json:
        """Return the feeling of a text, and how much of it there is."""
        del felt
        operation = self._operations[RecognitionTask.SENTIMENT]
        feeling = "positive" if score > NEUTRAL else "negative" if score < -NEUTRAL else "neutral"
        return _answer(operation, [described(operation, feeling, round(score, DIGITS))])

    def sentiments_around(self, numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
        """Yield feelings with scores on both sides of each number, and at it."""
        near = {edge for n in numbers for edge in (n - _STEP, n, n + _STEP) if -1 <= edge <= 1}
        for score in sorted({-0.9, 0.0, 0.9, *near}):
            yield f"score {score:g}", self.sentiment_answer(score, [])

    def entity_answer(self, entities: Sequence[Entity]) -> Json:
        """Return what a text speaks of, what is most of it first."""
        operation = self._operations[RecognitionTask.ENTITIES]
        kind = (operation.fields or {}).get(Field.KIND, "")
        results = []
        for one in sorted(entities, key=lambda entity: -entity.salience):
            result = _result(operation, one.name, one.certainty)
            if kind:
                _put(result, kind.split("."), one.kind)
            results.append(result)
        return _answer(operation, results)

    def listed_answer(self, operation: Operation, found: Scored) -> Json:
        """Return results that have a name and a score, the likeliest first."""
        return _answer(operation, [_result(operation, *one) for one in ordered(found)])

    def refusals(self, operation: Operation) -> Sequence[Refusal]:
        """Return its own: asked too often, an image that is none."""
        often = Refusal("Too many requests.", Code.RESOURCE_EXHAUSTED, is_of_content=False)
        if kind_of(operation.task) is MediaKind.IMAGE:
            return often, Refusal("This is no image.", Code.INVALID_ARGUMENT)
        return (often,)


def _result(operation: Operation, key: str, share: float) -> Json:
    """Return a result with its score as the service says it, of a share of what that goes up to."""
    most = operation.between[1] if operation.between else 1.0
    return described(operation, key, round(most * share, DIGITS))


def _answer(operation: Operation, results: list[Json]) -> Json:
    """Return results where they lie in an answer; the one where it is the answer itself."""
    if not operation.records:
        return results[0] if results else {}
    if not operation.way:
        return results
    answer: dict[str, Json] = {}
    _put(answer, operation.way, results)
    return answer
