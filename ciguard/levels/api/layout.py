"""Positions and keywords of the arguments of an API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind
from ciguard.domain.values import ListValue, TupleValue, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.knowledge import Parameter


class CallLayout:
    """Form of an API's calls: positional arguments, then keyword arguments.

    Required parameters are passed by position if the API allows it. In builtins, the names of
    parameters sometimes differ from the documentation (`input`, `self`), but their order does not.
    """

    def __init__(self, parameters: Sequence[Parameter], *, keywords_only: bool) -> None:
        kinds = [parameter.kind for parameter in parameters]
        variadic_index = (
            kinds.index(ParameterKind.VAR_POSITIONAL)
            if ParameterKind.VAR_POSITIONAL in kinds
            else -1
        )
        self._variadic_name = parameters[variadic_index].name if variadic_index >= 0 else ""
        prefix_length = 0 if keywords_only else _prefix_length(parameters, variadic_index)
        self._positional_names = tuple(parameter.name for parameter in parameters[:prefix_length])
        self._keyword_names = tuple(
            parameter.name
            for parameter in parameters[prefix_length:]
            if parameter.name != self._variadic_name
        )

    def place(
        self, values: dict[str, Value]
    ) -> tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]]:
        """Return the positional and the keyword arguments for values by parameter."""
        arguments: list[Value] = []
        for name in self._positional_names:
            if name not in values:
                break  # no argument after an omitted one can be positional
            arguments.append(values[name])
        else:
            if self._variadic_name in values:
                arguments += _items_of(values[self._variadic_name])
        keywords = tuple([(name, values[name]) for name in self._keyword_names if name in values])
        return tuple(arguments), keywords

    def read(
        self, arguments: Sequence[Value], keywords: Sequence[tuple[str, Value]]
    ) -> dict[str, Value]:
        """Return the values by parameter: the inverse of `place`."""
        values = dict(zip(self._positional_names, arguments, strict=False))
        if self._variadic_name and len(arguments) > len(self._positional_names):
            values[self._variadic_name] = ListValue(tuple(arguments[len(self._positional_names) :]))
        return values | dict(keywords)


def _prefix_length(parameters: Sequence[Parameter], variadic_index: int) -> int:
    """Return the number of parameters that are passed by position."""
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


def _items_of(value: Value) -> tuple[Value, ...]:
    """Return the positional arguments for a variadic parameter."""
    return value.items if isinstance(value, ListValue | TupleValue) else (value,)
