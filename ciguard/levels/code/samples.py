"""One sample in the place of a batch, for layers whose documentation lists both forms of input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, Operator
from ciguard.knowledge import without_markup
from ciguard.levels.code.bare import LINE, Bare, bare_call, bare_program
from ciguard.levels.code.blocks import BlockInput
from ciguard.levels.code.pruning import equivalence_class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.records import ApiRecord
    from ciguard.levels.code.knowledge import Apis
    from ciguard.levels.code.nodes import CandidateBlock

_BATCH = "N"
"""How documentation calls the size of the batch dimension."""


class Samples:
    """Makes such programs of layers that programs were made of."""

    def __init__(self, apis: Apis) -> None:
        """Prepare it for a library's APIs."""
        self._apis = apis

    def __call__(self, candidate: CandidateBlock, source: str) -> Iterator[Bare]:
        """Yield the program for the changed call of a block, where the library lists both forms.

        Args:
            candidate: a block that ran alone.
            source: of the seed program, whose constants may stand in the call.
        """
        call, takes = bare_call(candidate.block, candidate.place, source), candidate.takes
        api = None if call is None else self._apis.find(call.api)
        forms = _both_forms(api.record, len(takes.shape)) if api is not None else ()
        if call is not None and forms:
            one = BlockInput(takes.shape[1:], takes.dtype, takes.below)
            step = Derivation(
                block=candidate.block.name,
                line=LINE,
                api=call.api,
                operator=Operator.UNBATCHED,
                before=str(takes.shape),
                after=str(one.shape),
                sentence=f"Input: {' or '.join(map(without_markup, forms))}",
            )
            # Each way of changing the layer once: with one of them it may not take a sample.
            name = " ".join((step.operator, step.api, *equivalence_class(candidate.step)))
            yield Bare(bare_program(call, one), bare_program(call, takes), step, name)


def _both_forms(record: ApiRecord, rank: int) -> tuple[str, ...]:
    """Return the form of a batch of that rank, and that of a sample; nothing if one is missing."""
    listed = {tuple(form.strip("()").split(", ")): form for form in record.forms}
    for dims, form in listed.items():
        if len(dims) == rank and dims[0] == _BATCH and dims[1:] in listed:
            return form, listed[dims[1:]]
    return ()
