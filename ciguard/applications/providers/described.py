"""Results with their fields where a provider's description says that they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.applications.providers.description import Field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.applications.providers.description import Operation
    from ciguard.domain import Json


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
