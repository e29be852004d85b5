"""Undocumented arguments, of which a library documents nothing but the name.

It is unknown whether a program may pass them anything but an ordinary value.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind
from ciguard.domain.values import LiteralValue
from ciguard.triage import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.domain.values import Value

_WORD = re.compile(r"\w+")
_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)


def undocumented_odd_arguments(call: ApiCall, records: Sequence[ApiRecord]) -> list[str]:
    """Return the names of undocumented arguments that have an unusual value.

    Args:
        call: call of an API.
        records: record of the API on each target; the parameters are those of the first.
    """
    if not records:
        return []
    odd = (name for name, value in _named(call, records[0]) if not is_plain(value))
    return [
        name
        for name in dict.fromkeys(odd)
        if not any(_describes(record, name) for record in records)
    ]


def with_plain_values(call: ApiCall, record: ApiRecord, names: Sequence[str]) -> Iterator[ApiCall]:
    """Yield variants of a call in which the arguments `names` are 1, are None, or are omitted."""
    indices = {
        index
        for index, name in enumerate(_positional(record, len(call.arguments)))
        if name in names
    }
    for plain in (LiteralValue(1), LiteralValue(None)):
        arguments = tuple(
            plain if index in indices else value for index, value in enumerate(call.arguments)
        )
        keywords = tuple((name, plain if name in names else value) for name, value in call.keywords)
        yield replace(call, arguments=arguments, keywords=keywords)
        remaining = tuple((name, value) for name, value in call.keywords if name not in names)
        if remaining != call.keywords:
            yield replace(call, arguments=arguments, keywords=remaining)


def _named(call: ApiCall, record: ApiRecord) -> Iterator[tuple[str, Value]]:
    yield from zip(_positional(record, len(call.arguments)), call.arguments, strict=True)
    yield from call.keywords
    yield from zip((item.name for item in record.inputs), call.inputs, strict=False)


def _positional(record: ApiRecord, count: int) -> list[str]:
    """Return the names of the first `count` positional arguments, with `*args` for extra ones."""
    names = [item.name for item in record.parameters if item.kind in _BY_POSITION][:count]
    kinds = {item.kind: item.name for item in record.parameters}
    rest = kinds.get(ParameterKind.VAR_POSITIONAL, "")
    return names + [rest] * (count - len(names))


def _describes(record: ApiRecord, name: str) -> bool:
    """Return whether a library documents an argument beyond its name."""
    if name in record.undeclared_parameters or any(
        _WORD.findall(line)[:1] == [name] for line in record.unread
    ):
        return True
    parameters = {item.name: item for item in (*record.parameters, *record.inputs)}
    kinds = {item.kind: item for item in record.parameters}
    parameter = parameters.get(name) or kinds.get(ParameterKind.VAR_KEYWORD)
    return parameter is not None and _is_described(parameter)


def _is_described(parameter: ParameterRecord) -> bool:
    is_typed = parameter.annotation or parameter.schema_type or parameter.doc_type
    is_bounded = parameter.dtypes or parameter.allowed or parameter.same_dtype_as
    has_size = parameter.minimum is not None or parameter.length is not None
    is_defaulted = parameter.default is not None
    return bool(is_typed or is_bounded or has_size or is_defaulted or parameter.doc)
