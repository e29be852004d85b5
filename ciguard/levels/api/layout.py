"""The positions and keywords of an API's arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind
from ciguard.domain.values import ListValue, TupleValue, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.knowledge import Parameter


class CallLayout:
    """The form of an API's calls: a positional prefix, then keywords.

    Required parameters are positional where the API allows it. The names of builtins sometimes
    differ between documentation and library (`input`, `self`); their order does not.
    """

    def __init__(self, parameters: Sequence[Parameter], *, keywords_only: bool) -> None:
        kinds = [parameter.kind for parameter in parameters]
        variadic_index = (
            kinds.index(ParameterKind.VAR_POSITIONAL)
            if ParameterKind.VAR_POSITIONAL in kinds
            else -1
        )
        self._spread = parameters[variadic_index].name if variadic_index >= 0 else ""
        prefix = 0 if keywords_only else _prefix_length(parameters, variadic_index)
        self._by_position = tuple(parameter.name for parameter in parameters[:prefix])
        self._by_name = tuple(
            parameter.name for parameter in parameters[prefix:] if parameter.name != self._spread
        )

    def place(
        self, values: dict[str, Value]
    ) -> tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]]:
        """Return the positional and the keyword arguments for these values."""
        arguments: list[Value] = []
        for name in self._by_position:
            if name not in values:
                break  # no argument after a gap can be positional
            arguments.append(values[name])
        else:
            if self._spread in values:
                arguments += _spread_out(values[self._spread])
        keywords = tuple([(name, values[name]) for name in self._by_name if name in values])
        return tuple(arguments), keywords

    def read(
        self, arguments: Sequence[Value], keywords: Sequence[tuple[str, Value]]
    ) -> dict[str, Value]:
        """Return the values by parameter: the inverse of `place`."""
        values = dict(zip(self._by_position, arguments, strict=False))
        if self._spread and len(arguments) > len(self._by_position):
            values[self._spread] = ListValue(tuple(arguments[len(self._by_position) :]))
        return values | dict(keywords)


def _prefix_length(parameters: Sequence[Parameter], variadic_index: int) -> int:
    if variadic_index >= 0:
        return variadic_index
    length = 0
    for parameter in parameters:
        is_positional_only = parameter.kind is ParameterKind.POSITIONAL_ONLY
        is_positional_or_keyword = parameter.kind is ParameterKind.POSITIONAL_OR_KEYWORD
        if not is_positional_only and not (is_positional_or_keyword and parameter.required):
            break
        length += 1
    return length


def _spread_out(value: Value) -> tuple[Value, ...]:
    return value.items if isinstance(value, ListValue | TupleValue) else (value,)
