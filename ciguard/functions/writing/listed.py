"""Where in an annotation an object stands that has no form as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from ciguard.domain.values import CallValue, LiteralValue
from ciguard.functions.in_target.describing.encoding import CHOICE
from ciguard.functions.specs.kinds import Anys, Dicts, Lists, Spec, Tuples
from ciguard.values import OneOf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Value
    from ciguard.functions.specs.functions import FunctionSpec


def place_of_choice(function: FunctionSpec, argument: str, number: int) -> str:
    """Return what follows the values of an annotation to get at one of them.

    Args:
        function: that it is an argument of.
        argument: whose annotation lists the object.
        number: of the object among those without a data form.

    Raises:
        KeyError: if there is no such object.
    """
    spec = function.parameter(argument).spec
    for place, found in _places(spec, "") if spec is not None else ():
        if found == number:
            return place
    raise KeyError(number)


def place_in_examples(function: FunctionSpec, number: int) -> str:
    """Return what follows the examples of a constructor to get at one object in them.

    Raises:
        KeyError: if there is no such object.
    """
    for row, example in enumerate(function.examples):
        for column, (_, value) in enumerate(example):
            if is_choice(value) and _number(value) == number:
                return f"[{row}][{column}]"
    raise KeyError(number)


def is_choice(value: Value) -> TypeGuard[CallValue]:
    """Return whether a value stands for an object that has no form as data."""
    return isinstance(value, CallValue) and value.function == CHOICE


def _places(spec: Spec, before: str) -> Iterator[tuple[str, int]]:
    match spec:
        case OneOf(values):
            for place, value in enumerate(values):
                if is_choice(value):
                    yield f'{before}.options["values"][{place}]', _number(value)
        case Anys(options):
            for place, option in enumerate(options):
                yield from _places(option, f'{before}.options["options"][{place}]')
        case Tuples(items):
            for place, item in enumerate(items):
                yield from _places(item, f'{before}.options["items"][{place}]')
        case Lists(item=item, is_tuple=is_tuple):
            yield from _places(item, f'{before}.options["{"item" if is_tuple else "items"}"]')
        case Dicts(keys=keys, values=values):
            yield from _places(keys, f'{before}.options["keys"]')
            yield from _places(values, f'{before}.options["values"]')
        case _:
            return


def _number(value: CallValue) -> int:
    number = value.arguments[2]
    return int(str(number.value)) if isinstance(number, LiteralValue) else -1
