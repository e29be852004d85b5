"""Arguments left out whose default, by the signature, is None: a layer must do without them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator
from ciguard.levels.code.bare import LINE, Bare, bare_call, bare_program
from ciguard.levels.code.binding import bind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.code.knowledge import Apis
    from ciguard.levels.code.nodes import CandidateBlock


class Omissions:
    """Makes such programs of layers that programs were made of."""

    def __init__(self, apis: Apis) -> None:
        """Prepare it for a library's APIs."""
        self._apis = apis

    def __call__(self, candidate: CandidateBlock, source: str) -> Iterator[Bare]:
        """Yield a program for each such argument of a block's changed call.

        Args:
            candidate: a block that ran alone.
            source: of the seed program, whose constants may stand in the call.
        """
        call = bare_call(candidate.block, candidate.place, source)
        api = None if call is None else self._apis.find(call.api)
        bound = None if call is None or api is None else bind(call, api.record)
        if call is None or api is None or bound is None:
            return
        for parameter in api.record.parameters:
            now = bound.named.get(parameter.name, "None")
            if parameter.required or parameter.default != "None" or now == "None":
                continue
            kept = {name: text for name, text in bound.named.items() if name != parameter.name}
            keywords = tuple({**kept, **bound.further}.items())
            step = Derivation(
                block=candidate.block.name,
                line=LINE,
                api=call.api,
                operator=Operator.OMITTED,
                parameter=parameter.name,
                before=now,
                after="None",
            )
            yield Bare(
                bare_program(replace(call, positional=(), keywords=keywords), candidate.takes),
                bare_program(call, candidate.takes),
                step,
                f"{step.operator} {step.api} {step.parameter}",
            )
