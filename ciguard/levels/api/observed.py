"""Observed operators: the calls that other APIs make of an API's operator, as models for its calls.

Most operators of gradients are not documented, and accept only arguments that fit each other in
many ways. The library itself calls them with such arguments.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue, value_from_json
from ciguard.knowledge import Experience

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json, Value

log = logging.getLogger(__name__)

_RECEIVER = "self"
_SOURCES = frozenset({"opdef", "schema", "stub"})
"""Sources of parameters for which there is no documentation."""


def is_operator(record: ApiRecord) -> bool:
    """Return whether an API is an undocumented operator, whose calls can be observed."""
    return bool(record.operator) and record.source in _SOURCES


class ObservedOperators:
    """Collects the observed calls of operators for the APIs that expose them."""

    def __init__(self, records: Sequence[ApiRecord]) -> None:
        self._records: dict[str, list[ApiRecord]] = {}
        for record in filter(is_operator, records):
            self._records.setdefault(record.operator, []).append(record)
        self.experience: dict[str, Experience] = {}
        """Observed calls by API."""

    def note(self, calls: Iterable[Sequence[Json]]) -> None:
        """Note operators and their arguments by name, as the worker has encoded them.

        Malformed arguments are left out, as the library may have corrupted its worker.
        """
        for operator, encoded in calls:
            records = self._records.get(operator, ())
            try:
                arguments = {name: value_from_json(v) for name, v in encoded.items() if records}
            except ValueError as error:
                log.warning("malformed arguments of %.80r: %.80s", operator, error)
                continue
            for record in records:
                fitted = _fitted(record, arguments)
                if fitted is not None:
                    self.experience.setdefault(record.api, Experience()).observe_operator(fitted)


def _fitted(record: ApiRecord, arguments: Mapping[str, Value]) -> dict[str, Value] | None:
    """Return the arguments by the API's parameters; None if the call is of another overload."""
    names = {parameter.name: parameter.required for parameter in record.parameters}
    first = next(iter(names), "")
    is_renamed = _RECEIVER in arguments and _RECEIVER not in names
    values = {
        first if is_renamed and name == _RECEIVER else name: value
        for name, value in arguments.items()
        if value != LiteralValue(None) or names.get(name)
    }
    is_complete = all(name in values for name, required in names.items() if required)
    return values if is_complete and values.keys() <= names.keys() else None
