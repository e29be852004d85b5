"""A call of an annotated function, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.values import Value, value_from_json, value_to_json

if TYPE_CHECKING:
    from ciguard.domain.values import Json

Arguments: TypeAlias = tuple[tuple[str, Value], ...]
"""Pairs of a parameter's name and its value."""

MAIN = "__main__"
"""Function name of a call that runs the module as a script; its argument is `args`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a function, complete enough to be replayed in a target."""

    function: str
    """Name of the function, as `FunctionSpec.name`."""
    arguments: Arguments = ()
    """Arguments by name; keyword arguments of `**options` are one dictionary."""
    constructor: Arguments | None = None
    """Constructor arguments of the instance whose method is called; None without an instance."""
    outer: Call | None = None
    """Call of the outer function that defines a nested function; None for other functions."""

    def to_json(self) -> Json:
        """Return the JSON form of the call."""
        return {
            "function": self.function,
            "arguments": _to_json(self.arguments),
            "constructor": None if self.constructor is None else _to_json(self.constructor),
            "outer": None if self.outer is None else self.outer.to_json(),
        }

    @classmethod
    def from_json(cls, json: Json) -> Call:
        """Return the call from its JSON form.

        Raises:
            KeyError, ValueError: if `json` is not the JSON form of a call.
        """
        constructor, outer = json["constructor"], json.get("outer")
        return cls(
            function=json["function"],
            arguments=_from_json(json["arguments"]),
            constructor=None if constructor is None else _from_json(constructor),
            outer=None if outer is None else cls.from_json(outer),
        )


def _to_json(arguments: Arguments) -> Json:
    return [[name, value_to_json(value)] for name, value in arguments]


def _from_json(json: Json) -> Arguments:
    return tuple((str(name), value_from_json(value)) for name, value in json)
