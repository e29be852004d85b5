"""Standalone checks that omit an argument whose default is None, which a layer must not need."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator
from ciguard.levels.code.binding import bind
from ciguard.levels.code.standalone import (
    CALL_LINE,
    StandaloneProgram,
    standalone_call,
    standalone_program,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.code.knowledge import Apis
    from ciguard.levels.code.nodes import CandidateBlock


class OmissionCheck:
    """Standalone check: programs that omit an optional argument of a layer."""

    def __init__(self, apis: Apis) -> None:
        """Create the check for a library."""
        self._apis = apis

    def __call__(self, candidate: CandidateBlock, source: str) -> Iterator[StandaloneProgram]:
        """Yield a program for each argument of a block's changed call whose default is None.

        Args:
            candidate: a block that ran alone.
            source: the text of the seed program, whose constants the call may use.
        """
        call = standalone_call(candidate.block, candidate.place, source)
        api = None if call is None else self._apis.find(call.api)
        bound = None if call is None or api is None else bind(call, api.record)
        if call is None or api is None or bound is None:
            return
        for parameter in api.record.parameters:
            current = bound.named.get(parameter.name, "None")
            if parameter.required or parameter.default != "None" or current == "None":
                continue
            remaining = {name: text for name, text in bound.named.items() if name != parameter.name}
            keywords = tuple({**remaining, **bound.further}.items())
            step = Derivation(
                block=candidate.block.name,
                line=CALL_LINE,
                api=call.api,
                operator=Operator.OMITTED,
                parameter=parameter.name,
                before=current,
                after="None",
            )
            yield StandaloneProgram(
                standalone_program(
                    replace(call, positional=(), keywords=keywords), candidate.input_form
                ),
                standalone_program(call, candidate.input_form),
                step,
                f"{step.operator} {step.api} {step.parameter}",
            )
