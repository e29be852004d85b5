"""Undefined tensors: None for an argument of an operator that needs a tensor.

The public functions of PyTorch refuse it. Its raw operators let it through as a tensor without
memory or type, and each fails by it in a way of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue, TensorValue, Uniform
from ciguard.triage import is_raw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord

_TENSOR = "Tensor"
"""The type of an argument that must be a tensor, in an operator's schema."""
_NONE = LiteralValue(None)
_PLAIN = TensorValue(dtype="float32", shape=(2, 3), fill=Uniform(1, 0.0, 1.0))


def undefined_tensors(call: ApiCall, records: Sequence[ApiRecord]) -> list[str]:
    """Return the names of the arguments that are None and must be tensors, by an operator's schema.

    Args:
        call: of one API; nothing is known of the arguments of one that is no raw operator.
        records: what each target says of that API; the arguments are those of the first.
    """
    if not records or not is_raw(call.api):
        return []
    needed = [item.name for item in records[0].parameters if item.schema_type == _TENSOR]
    by_position = zip((item.name for item in records[0].parameters), call.arguments, strict=False)
    given = {**dict(by_position), **dict(call.keywords)}
    return [name for name in needed if given.get(name) == _NONE]


def with_tensors(call: ApiCall, record: ApiRecord, names: Sequence[str]) -> Iterator[ApiCall]:
    """Yield calls that give the named arguments a tensor: one like their first, and a plain one."""
    places = {place for place, item in enumerate(record.parameters) if item.name in names}
    like = next((value for value in call.values if isinstance(value, TensorValue)), _PLAIN)
    for tensor in dict.fromkeys((like, _PLAIN)):
        yield replace(
            call,
            arguments=tuple(
                tensor if place in places else value for place, value in enumerate(call.arguments)
            ),
            keywords=tuple((name, tensor if name in names else v) for name, v in call.keywords),
        )
