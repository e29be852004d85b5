"""Annotations that no value can satisfy, as far as this is known before a value is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.functions.solving.box import Box
from ciguard.functions.solving.constraints import constraint_of
from ciguard.functions.solving.intervals import ANY, EmptyError, Interval
from ciguard.functions.solving.parsing import expression_tree
from ciguard.functions.solving.resolving import ImpossibleError, has_references, references_of
from ciguard.functions.specs.kinds import (
    Arrays,
    Dicts,
    FloatRange,
    IntRange,
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

_BOUND_NAMES = {
    IntRange: ("min", "max"),
    FloatRange: ("min", "max"),
    Arrays: ("min", "max"),
    Strings: ("min_len", "max_len"),
    Lists: ("min_len", "max_len"),
    Dicts: ("min_size", "max_size"),
    Shapes: ("min_dims", "max_dims"),
}


def unsatisfiable(function: FunctionSpec) -> Iterator[tuple[int, str]]:
    """Yield the line and message of each constraint and precondition that no call can satisfy."""
    specs = {
        parameter.name: parameter.spec
        for parameter in function.parameters
        if parameter.spec is not None
    }
    for parameter in function.parameters:
        if parameter.spec is not None and _is_impossible(parameter.spec, Box({}, specs)):
            message = (
                f"argument {parameter.name!r} of {function.name}: the annotation allows no value"
            )
            yield parameter.line, message
    yield from _contradictory_conditions(function, specs)


def _is_impossible(spec: Spec, box: Box) -> bool:
    """Return whether a constraint is impossible: no value conforms to it, or to one of its parts.

    Args:
        spec: the constraint.
        box: intervals of the arguments to which the constraint refers.
    """
    if any(_is_impossible(part, box) for part in parts_of(spec)):
        return True
    names = _BOUND_NAMES.get(type(spec))
    if references_of(spec) and names is not None:
        minimum, maximum = (_interval_of_bound(getattr(spec, name), box) for name in names)
        return minimum.low > maximum.high
    return not has_references(spec) and _has_no_value(spec)


def _has_no_value(spec: Spec) -> bool:
    try:
        constraint_of(spec)
    except ImpossibleError:
        return True
    except TypeError:
        pass  # a value is drawn part by part; `_is_impossible` has checked the parts
    return False


def _interval_of_bound(bound: float | Reference | None, box: Box) -> Interval:
    if bound is None:
        return ANY
    if not isinstance(bound, Reference):
        return Interval(bound, bound)
    tree = expression_tree(bound.expression)
    return ANY if tree is None else box.forward(tree)


def _contradictory_conditions(
    function: FunctionSpec, specs: dict[str, Spec]
) -> Iterator[tuple[int, str]]:
    """Yield the line and message of the first precondition that can never hold.

    It contradicts the constraints, or the preconditions before it.
    """
    box = Box({}, specs)
    for condition in function.preconditions:
        tree = expression_tree(condition.text)
        if tree is None:
            continue
        try:
            box.assume(tree)
        except EmptyError:
            subject = f"{function.name}: require({condition.text!r})"
            reason = "for the annotated values" if condition.names else "for any arguments"
            yield condition.line, f"{subject} never holds {reason}"
            return
