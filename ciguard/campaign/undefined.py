"""Undefined tensors: None for an argument of an operator that needs a tensor.

The public functions of PyTorch reject it. Its raw operators pass it on as a tensor without memory
and dtype, and each operator fails in a different way.
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
"""Type of an argument that must be a tensor, in an operator's schema."""
_NONE = LiteralValue(None)
_PLAIN = TensorValue(dtype="float32", shape=(2, 3), fill=Uniform(1, 0.0, 1.0))


def undefined_tensors(call: ApiCall, records: Sequence[ApiRecord]) -> list[str]:
    """Return the names of the arguments that are None although the schema needs a tensor.

    Args:
        call: call of an API; the result is empty if this is not a raw operator.
        records: record of the API on each target; the parameters are those of the first.
    """
    if not records or not is_raw(call.api):
        return []
    parameters = records[0].parameters
    tensors = [parameter.name for parameter in parameters if parameter.schema_type == _TENSOR]
    names = (parameter.name for parameter in parameters)
    values = {**dict(zip(names, call.arguments, strict=False)), **dict(call.keywords)}
    return [name for name in tensors if values.get(name) == _NONE]


def with_tensors(call: ApiCall, record: ApiRecord, names: Sequence[str]) -> Iterator[ApiCall]:
    """Yield calls with a tensor for each named argument: the call's first one, and a plain one."""
    indices = {
        index for index, parameter in enumerate(record.parameters) if parameter.name in names
    }
    first = next((value for value in call.values if isinstance(value, TensorValue)), _PLAIN)
    for tensor in dict.fromkeys((first, _PLAIN)):
        yield replace(
            call,
            arguments=tuple(
                tensor if index in indices else value for index, value in enumerate(call.arguments)
            ),
            keywords=tuple(
                (name, tensor if name in names else value) for name, value in call.keywords
            ),
        )
