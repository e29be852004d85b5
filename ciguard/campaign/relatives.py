"""Relatives of an API: further APIs with the same required parameters.

The operators of a family share most of a kernel, and with it a missing check. So a call that
crashes one of them often crashes the others, too.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.records import ParameterKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord

_MAX_RELATIVES = 48
"""Maximum number of relatives of an API: hundreds of operators take only a tensor `x`."""
_RECEIVERS = {"self": "input"}
"""Other names of the parameter by which a function takes the receiver of a method."""
_Signature: TypeAlias = tuple[str, ...]


class Relatives:
    """Finds the relatives of APIs among the records of a library."""

    def __init__(self, records: Iterable[ApiRecord]) -> None:
        self._records = {record.api: record for record in records}
        self._apis: dict[_Signature, list[str]] = {}
        for record in self._records.values():
            self._apis.setdefault(_signature(record), []).append(record.api)

    def calls(self, call: ApiCall) -> list[ApiCall]:
        """Return the same call of each relative of its API, of those with similar names first."""
        record = self._records.get(call.api)
        signature = () if record is None or call.inputs else _signature(record)
        apis = [api for api in self._apis[signature] if api != call.api] if signature else []
        apis.sort(key=lambda api: (-_common_length(api, call.api), api))
        return [_translated(call, self._records[api]) for api in apis[:_MAX_RELATIVES]]


def _signature(record: ApiRecord) -> _Signature:
    """Return the names of the required parameters."""
    names = [parameter.name for parameter in record.parameters if parameter.required]
    return tuple([_RECEIVERS.get(name, name) for name in names])


def _common_length(api: str, other: str) -> int:
    """Return the number of characters with which the last parts of two names begin alike."""
    pairs = zip(*(name.rpartition(".")[2].lower() for name in (api, other)), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _translated(call: ApiCall, record: ApiRecord) -> ApiCall:
    """Return the call of another API, without the keyword arguments that it lacks."""
    names = {_RECEIVERS.get(parameter.name, parameter.name) for parameter in record.parameters}
    takes_any = any(p.kind is ParameterKind.VAR_KEYWORD for p in record.parameters)
    keywords = tuple([pair for pair in call.keywords if takes_any or pair[0] in names])
    return replace(call, api=record.api, kind=record.kind, keywords=keywords)
