"""Standalone checks with one sample instead of a batch, where documentation lists both forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator
from ciguard.knowledge import without_markup
from ciguard.levels.code.blocks import BlockInput
from ciguard.levels.code.pruning import equivalence_class
from ciguard.levels.code.standalone import (
    LINE,
    StandaloneProgram,
    standalone_call,
    standalone_program,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.records import ApiRecord
    from ciguard.levels.code.knowledge import Apis
    from ciguard.levels.code.nodes import CandidateBlock

_BATCH_SIZE = "N"
"""Name of the batch size in documentation."""


class Samples:
    """Makes programs that run a layer on one sample."""

    def __init__(self, apis: Apis) -> None:
        """Create the check for a library."""
        self._apis = apis

    def __call__(self, candidate: CandidateBlock, source: str) -> Iterator[StandaloneProgram]:
        """Yield the program for a block's changed call if the library documents both forms.

        Args:
            candidate: a block that ran alone.
            source: the text of the seed program, whose constants the call may use.
        """
        call, takes = standalone_call(candidate.block, candidate.place, source), candidate.takes
        api = None if call is None else self._apis.find(call.api)
        forms = _both_forms(api.record, len(takes.shape)) if api is not None else ()
        if call is not None and forms:
            sample = BlockInput(takes.shape[1:], takes.dtype, takes.below)
            step = Derivation(
                block=candidate.block.name,
                line=LINE,
                api=call.api,
                operator=Operator.UNBATCHED,
                before=str(takes.shape),
                after=str(sample.shape),
                sentence=f"Input: {' or '.join(map(without_markup, forms))}",
            )
            # Once per kind of change to the layer: with one of them it may reject a sample.
            name = " ".join((step.operator, step.api, *equivalence_class(candidate.step)))
            yield StandaloneProgram(
                standalone_program(call, sample), standalone_program(call, takes), step, name
            )


def _both_forms(record: ApiRecord, rank: int) -> tuple[str, ...]:
    """Return the form of a batch of that rank and that of a sample; empty if one is missing."""
    listed = {tuple(form.strip("()").split(", ")): form for form in record.forms}
    for dims, form in listed.items():
        if len(dims) == rank and dims[0] == _BATCH_SIZE and dims[1:] in listed:
            return form, listed[dims[1:]]
    return ()
