"""Locates objects without a JSON form in annotations, as source text that looks them up."""

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


def choice_selector(function: FunctionSpec, argument: str, number: int) -> str:
    """Return source text that selects an object inside an annotation's constraint.

    The text has to be appended to the expression of the constraint.

    Args:
        function: the annotated function.
        argument: name of the argument whose annotation contains the object.
        number: index of the object among the annotation's objects without a JSON form.

    Raises:
        KeyError: if the annotation has no such object.
    """
    spec = function.parameter(argument).spec
    for path, index in _choices(spec, "") if spec is not None else ():
        if index == number:
            return path
    raise KeyError(number)


def example_selector(function: FunctionSpec, number: int) -> str:
    """Return source text that selects an object in the list of a constructor's examples.

    The text has to be appended to the expression of the list.

    Args:
        function: the constructor.
        number: index of the object among the examples' objects without a JSON form.

    Raises:
        KeyError: if the examples have no such object.
    """
    for row, example in enumerate(function.examples):
        for column, (_, value) in enumerate(example):
            if is_choice(value) and _choice_index(value) == number:
                return f"[{row}][{column}]"
    raise KeyError(number)


def is_choice(value: Value) -> TypeGuard[CallValue]:
    """Return whether a value stands for an object without a JSON form."""
    return isinstance(value, CallValue) and value.function == CHOICE


def _choices(spec: Spec, path: str) -> Iterator[tuple[str, int]]:
    """Yield the look-up text and the index of each object without a JSON form in a constraint."""
    match spec:
        case OneOf(values):
            for index, value in enumerate(values):
                if is_choice(value):
                    yield f'{path}.options["values"][{index}]', _choice_index(value)
        case Anys(options):
            for index, option in enumerate(options):
                yield from _choices(option, f'{path}.options["options"][{index}]')
        case Tuples(items):
            for index, item in enumerate(items):
                yield from _choices(item, f'{path}.options["items"][{index}]')
        case Lists(item=item, is_tuple=is_tuple):
            yield from _choices(item, f'{path}.options["{"item" if is_tuple else "items"}"]')
        case Dicts(keys=keys, values=values):
            yield from _choices(keys, f'{path}.options["keys"]')
            yield from _choices(values, f'{path}.options["values"]')
        case _:
            return


def _choice_index(value: CallValue) -> int:
    number = value.arguments[2]
    return int(str(number.value)) if isinstance(number, LiteralValue) else -1
