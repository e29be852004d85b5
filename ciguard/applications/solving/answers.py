"""Answers of services in which all is a symbol: results, how many there are, their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.applications.providers.description import Field, Task
from ciguard.applications.providers.registered import are_written
from ciguard.applications.solving.results import filled, order_of, title_of, value_of
from ciguard.applications.solving.terms import Listed, Record, in_json, joined, product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.applications.providers.description import Operation
    from ciguard.applications.solving.symbols import Symbols
    from ciguard.domain import Json

MAX_RESULTS = 24
_USUALLY = 2
"""So many results has a plain answer."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """One result of an answer."""

    fields: Json
    """As the service's message has them; those that no condition can tell are left out."""
    title: str
    """In words, for people."""
    key: str = ""
    kind: str = ""
    """Of an entity, as the service calls it."""
    score: float | None = None
    """As the service says it; None where it says none."""


def is_solved_for(operation: Operation) -> bool:
    """Return whether it is known what an operation's answer is made of."""
    if not are_written(operation):
        return False
    fields = operation.fields or {}
    match operation.task:
        case Task.SENTIMENT:
            return not operation.records
        case Task.SPEECH if operation.provider == "aws":
            return False  # its client returns where the answer lies
        case Task.FACES | Task.PHRASES:
            return True
        case _:
            return Field.KEY in fields


def least_results(operation: Operation) -> int:
    """Return how many results an answer has at least."""
    return int(operation.task is Task.LANGUAGE)  # a text is in some language always


class Answers:
    """One answer of each operation."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._answers: dict[Operation, Any] = {}
        self._results: dict[Operation, list[Any]] = {}

    def answer(self, operation: Operation) -> Any:
        """Return what a client returns, always the same."""
        if operation not in self._answers:
            made = self._made(operation)
            self._answers[operation] = [made] if operation.is_per_document else made
        return self._answers[operation]

    def recognised(self, operation: Operation) -> tuple[Recognised, ...]:
        """Return the results of an answer as they are now; of a text, its lines."""
        self.answer(operation)
        results = self._results[operation]
        if _begins_with_all(operation):
            results = results[1:] or results
        return tuple(_recognised(operation, one) for one in results)

    def _made(self, operation: Operation) -> Any:
        answer, name = Record(), operation.name
        if operation.provider == "google":
            answer.put(["error"], Record({"message": "", "code": 0}))
        if operation.is_per_document:
            answer.put(["is_error"], value=False)
        if not operation.records:
            result = filled(Record(), operation, f"{name}.0", self._symbols)
            self._results[operation] = [result]
            return Record({**answer.fields, **result.fields})
        between = least_results(operation), MAX_RESULTS
        count = self._symbols.whole(f"{name}.count", _USUALLY, between)
        results = [
            filled(Record(), operation, f"{name}.{at}", self._symbols)
            for at in range(int(count.now))
        ]
        self._results[operation] = results
        self._symbols.descend(order_of(operation, results))
        path = operation.way
        if not path:
            return Listed(results, count)
        answer.put(path, Listed(results, count))
        if _begins_with_all(operation):
            _write_all(answer, operation, results)
        if (operation.provider, operation.task) == ("aws", Task.TEXT):
            words = [Record({**line.fields, "Type": "WORD"}) for line in results]
            answer.put(path, Listed([*results, *words], product(count, 2)))
        return answer


def _begins_with_all(operation: Operation) -> bool:
    """Return whether the first of several texts is all of them."""
    return operation.provider == "google" and operation.task is Task.TEXT


def _write_all(answer: Record, operation: Operation, results: Sequence[Record]) -> None:
    """Make the first of several texts all of them, one line after the other."""
    lines = [value_of(Field.KEY, one, operation) for one in results]
    if len(lines) > 1:
        whole = joined(lines[1:], "\n")
        results[0].put((operation.fields or {})[Field.KEY].split("."), whole)
        lines[0] = whole
    answer.put(["full_text_annotation"], Record({"text": lines[0] if lines else ""}))


def _recognised(operation: Operation, result: Any) -> Recognised:
    if not isinstance(result, Record):  # it is a text
        said = in_json(result)
        return Recognised(said, repr(said), said)
    values = {
        field: in_json(value_of(field, result, operation)) for field in operation.fields or {}
    }
    score = values.get(Field.SCORE)
    return Recognised(
        result.to_json(),
        title_of(operation, result, values),
        str(values.get(Field.KEY, "")),
        str(values.get(Field.KIND, "")),
        None if score is None else float(score),
    )
