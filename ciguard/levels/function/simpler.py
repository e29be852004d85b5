"""Variants of a call with other arguments: simpler ones, or ones with slightly changed numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.functions.checking import called_program_from_json, is_valid
from ciguard.functions.specs import Call
from ciguard.triage.simplifying import arrays_in, change_array, simpler_pairs, simpler_together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.function_calls import FunctionCase
    from ciguard.oracles import Perturbation


def simpler_calls(case: FunctionCase) -> Iterator[FunctionCase]:
    """Yield variants of a call with simpler arguments that conform to the annotations."""
    try:
        call, program = Call.from_json(case.call), called_program_from_json(case.about, case.file)
    except (KeyError, TypeError, ValueError):
        return  # the case is an import, or comes from a baseline that was edited by hand
    if case.seed:
        yield replace(case, seed=0)
    for simpler in _simpler_variants(call):
        if is_valid(simpler, program.module):
            yield replace(case, call=simpler.to_json())


def moved_call(case: FunctionCase, move: Perturbation) -> FunctionCase:
    """Return a call in which `move` has slightly changed the numbers in the arguments."""
    if not case.call:
        return case
    call = Call.from_json(case.call)
    names = [name for name, _ in call.arguments]
    values = move([value for _, value in call.arguments])
    return replace(
        case, call=replace(call, arguments=tuple(zip(names, values, strict=True))).to_json()
    )


def _simpler_variants(call: Call) -> Iterator[Call]:
    for arguments in simpler_pairs(call.arguments):
        yield replace(call, arguments=arguments)
    for change in simpler_together(arrays_in(value for _, value in call.arguments)):
        simplified = tuple((name, change_array(value, change)) for name, value in call.arguments)
        yield replace(call, arguments=simplified)
    for constructor in simpler_pairs(call.constructor or ()):
        yield replace(call, constructor=constructor)
