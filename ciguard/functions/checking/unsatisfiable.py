"""Annotations that allow no value, as far as this shows before anything is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.functions.solving.box import Box
from ciguard.functions.solving.constraints import constraint_of
from ciguard.functions.solving.intervals import ANY, EmptyError, Interval
from ciguard.functions.solving.parsing import parsed
from ciguard.functions.solving.resolving import ImpossibleError, has_references, references_of
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
    """Yield line and message of constraints and preconditions that no call can fulfil."""
    specs = {
        parameter.name: parameter.spec
        for parameter in function.parameters
        if parameter.spec is not None
    }
    for parameter in function.parameters:
        if parameter.spec is not None and _is_impossible(parameter.spec, Box({}, specs)):
            message = f"argument {parameter.name!r} of {function.name}: its range is empty"
            yield parameter.line, message
    yield from _contradictory_conditions(function, specs)


def _is_impossible(spec: Spec, box: Box) -> bool:
    """Return whether a constraint or one of its parts allows no value."""
    if any(_is_impossible(part, box) for part in parts_of(spec)):
        return True
    names = _BOUNDS.get(type(spec))
    if references_of(spec) and names is not None:
        low, high = (_interval_of_bound(getattr(spec, name), box) for name in names)
        return low.low > high.high
    return not has_references(spec) and _has_no_value(spec)


def _has_no_value(spec: Spec) -> bool:
    try:
        constraint_of(spec)
    except ImpossibleError:
        return True
    except TypeError:
        pass  # drawn part by part; the parts were checked above
    return False


def _interval_of_bound(bound: float | Reference | None, box: Box) -> Interval:
    if bound is None:
        return ANY
    if not isinstance(bound, Reference):
        return Interval(bound, bound)
    tree = parsed(bound.expression)
    return ANY if tree is None else box.forward(tree)


def _contradictory_conditions(
    function: FunctionSpec, specs: dict[str, Spec]
) -> Iterator[tuple[int, str]]:
    """Yield the first precondition that contradicts the annotations and earlier preconditions."""
    box = Box({}, specs)
    for condition in function.requires:
        tree = parsed(condition.text)
        if tree is None:
            continue
        try:
            box.assume(tree)
        except EmptyError:
            subject = f"{function.name}: require({condition.text!r})"
            reason = "for the ranges of its arguments" if condition.names else "for any arguments"
            yield condition.line, f"{subject} never holds {reason}"
            return
