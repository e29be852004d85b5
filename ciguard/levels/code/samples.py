"""Standalone checks of layers with one sample instead of a batch.

Only layers are checked whose documentation lists both forms of the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator
from ciguard.knowledge import without_markup
from ciguard.levels.code.blocks import BlockTensor
from ciguard.levels.code.pruning import equivalence_class
from ciguard.levels.code.standalone import (
    CALL_LINE,
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


class SampleCheck:
    """Standalone check: programs that run a layer on one sample."""

    def __init__(self, apis: Apis) -> None:
        """Create the check for a library."""
        self._apis = apis

    def __call__(self, candidate: CandidateBlock, source: str) -> Iterator[StandaloneProgram]:
        """Yield the program for a block's changed call, if its documentation lists both forms.

        Args:
            candidate: a block that ran alone.
            source: the text of the seed program, whose constants the call may use.
        """
        call, input_form = (
            standalone_call(candidate.block, candidate.place, source),
            candidate.input_form,
        )
        api = None if call is None else self._apis.find(call.api)
        forms = (
            _batch_and_sample_forms(api.record, len(input_form.shape)) if api is not None else ()
        )
        if call is not None and forms:
            sample = BlockTensor(input_form.shape[1:], input_form.dtype, input_form.below)
            step = Derivation(
                block=candidate.block.name,
                line=CALL_LINE,
                api=call.api,
                operator=Operator.UNBATCHED,
                before=str(input_form.shape),
                after=str(sample.shape),
                sentence=f"Input: {' or '.join(map(without_markup, forms))}",
            )
            # The name has the kind of the change, since a layer may reject a sample after some
            # changes only.
            name = " ".join((step.operator, step.api, *equivalence_class(candidate.step)))
            yield StandaloneProgram(
                standalone_program(call, sample), standalone_program(call, input_form), step, name
            )


def _batch_and_sample_forms(record: ApiRecord, rank: int) -> tuple[str, ...]:
    """Return the documented forms of a batch of a rank and of a sample; empty if one is missing."""
    listed = {tuple(form.strip("()").split(", ")): form for form in record.forms}
    for dims, form in listed.items():
        if len(dims) == rank and dims[0] == _BATCH_SIZE and dims[1:] in listed:
            return form, listed[dims[1:]]
    return ()
