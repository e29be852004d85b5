"""Annotations that leave no value, as far as that shows before anything is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.functions.solving.box import Box
from ciguard.functions.solving.constraints import constraint_of
from ciguard.functions.solving.intervals import ANY, EmptyError, Interval
from ciguard.functions.solving.parsing import parsed
from ciguard.functions.solving.resolving import ImpossibleError, references_of, refers
from ciguard.functions.specs.kinds import (
    Arrays,
    Dicts,
    FloatsIn,
    IntsIn,
    Lists,
    Reference,
    Shapes,
    Spec,
    Strings,
    parts_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.functions.specs.functions import FunctionSpec

_BOUNDS = {
    IntsIn: ("min", "max"),
    FloatsIn: ("min", "max"),
    Arrays: ("min", "max"),
    Strings: ("min_len", "max_len"),
    Lists: ("min_len", "max_len"),
    Dicts: ("min_size", "max_size"),
    Shapes: ("min_dims", "max_dims"),
}


def unsatisfiable(function: FunctionSpec) -> Iterator[tuple[int, str]]:
    """Yield line and message of what no call can fulfil."""
    specs = {p.name: p.spec for p in function.parameters if p.spec is not None}
    for parameter in function.parameters:
        if parameter.spec is not None and _is_impossible(parameter.spec, Box({}, specs)):
            message = f"argument {parameter.name!r} of {function.name}: its range is empty"
            yield parameter.line, message
    yield from _conditions(function, specs)


def _is_impossible(spec: Spec, box: Box) -> bool:
    """Return whether some part of a constraint has no value: one that no call could ever use."""
    if any(_is_impossible(part, box) for part in parts_of(spec)):
        return True
    names = _BOUNDS.get(type(spec))
    if references_of(spec) and names is not None:
        low, high = (_worth(getattr(spec, name), box) for name in names)
        return low.low > high.high
    return not refers(spec) and _has_no_value(spec)


def _has_no_value(spec: Spec) -> bool:
    try:
        constraint_of(spec)
    except ImpossibleError:
        return True
    except TypeError:
        pass  # drawn part by part, and the parts have been looked at
    return False


def _worth(bound: float | Reference | None, box: Box) -> Interval:
    if bound is None:
        return ANY
    if not isinstance(bound, Reference):
        return Interval(bound, bound)
    tree = parsed(bound.expression)
    return ANY if tree is None else box.forward(tree)


def _conditions(function: FunctionSpec, specs: dict[str, Spec]) -> Iterator[tuple[int, str]]:
    """Yield a precondition that excludes all that is left by the annotations and those before."""
    box = Box({}, specs)
    for condition in function.requires:
        tree = parsed(condition.text)
        if tree is None:
            continue
        try:
            box.assume(tree)
        except EmptyError:
            shown = f"{function.name}: require({condition.text!r})"
            why = (
                "with the ranges of its arguments"
                if condition.names
                else "whatever it is called with"
            )
            yield condition.line, f"{shown} never holds {why}"
            return
