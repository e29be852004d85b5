"""Variants of a call: calls with simpler arguments, or with perturbed numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.triage.simplifying import (
    AnyArray,
    arrays_in,
    change_array,
    shorter_tuples,
    simpler_together,
    simpler_values,
    simplify_one_value,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.values import Value
    from ciguard.oracles import Perturbation


def simpler_calls(case: ApiCall) -> Iterator[ApiCall]:
    """Yield calls with fewer or simpler arguments."""
    if case.relation:
        yield replace(case, relation="")
    keywords = dict(case.keywords)
    for subset in shorter_tuples(case.keywords):
        yield replace(case, keywords=subset)
    for name, value in case.keywords:
        for simpler_value in simpler_values(value):
            yield replace(case, keywords=tuple({**keywords, name: simpler_value}.items()))
    # Only the last positional arguments can be omitted without moving the others.
    for count in range(len(case.arguments)):
        yield replace(case, arguments=case.arguments[:count])
    for arguments in simplify_one_value(case.arguments):
        yield replace(case, arguments=arguments)
    for count in range(len(case.inputs)):
        yield replace(case, inputs=case.inputs[:count])
    for inputs in simplify_one_value(case.inputs):
        yield replace(case, inputs=inputs)
    for change in simpler_together(_arrays(case)):
        yield _with_changed_arrays(case, change)


def _arrays(case: ApiCall) -> list[AnyArray]:
    return arrays_in([*case.arguments, *case.inputs, *(value for _, value in case.keywords)])


def _with_changed_arrays(case: ApiCall, change: Callable[[AnyArray], Value]) -> ApiCall:
    """Return the case with a change applied to every array argument at once."""
    return replace(
        case,
        arguments=tuple(change_array(value, change) for value in case.arguments),
        keywords=tuple((name, change_array(value, change)) for name, value in case.keywords),
        inputs=tuple(change_array(value, change) for value in case.inputs),
    )


def perturbed_call(case: ApiCall, perturb: Perturbation) -> ApiCall:
    """Return a call with slightly perturbed numbers in all arguments and inputs."""
    names = [name for name, _ in case.keywords]
    # The order matters, since each tensor may be perturbed by another amount.
    arguments = perturb(case.arguments)
    keywords = perturb([value for _, value in case.keywords])
    return replace(
        case,
        arguments=arguments,
        keywords=tuple(zip(names, keywords, strict=True)),
        inputs=perturb(case.inputs),
    )
