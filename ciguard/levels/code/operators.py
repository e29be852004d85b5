"""The mutation operators of level `code`, and checks of single layers, for one library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ciguard.levels.code.boundary import Boundary
from ciguard.levels.code.generation import Generation
from ciguard.levels.code.knowledge import Apis
from ciguard.levels.code.omissions import OmissionCheck
from ciguard.levels.code.replacement import Replacement, ReplacementHistory
from ciguard.levels.code.samples import SampleCheck
from ciguard.levels.code.similarity import Similarities

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Sequence

    from ciguard.domain.records import ApiRecord
    from ciguard.levels.code.blocks import Block, BlockMutant
    from ciguard.levels.code.boundary import SpecificationReader
    from ciguard.levels.code.encoders import Encoder
    from ciguard.levels.code.nodes import CandidateBlock
    from ciguard.levels.code.standalone import StandaloneProgram


class MutationOperator(Protocol):
    """Mutation operator with one mutant per call: API replacement (AR), random generation (RG)."""

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return a block in which the call at index `place` is changed; None if that fails."""


class BoundaryOperator(Protocol):
    """Mutation operator with several mutants per call: boundary checking (BC)."""

    def mutants(self, block: Block, place: int) -> Sequence[BlockMutant]:
        """Return all mutants in which the call at index `place` has one illegal value."""


class StandaloneCheck(Protocol):
    """A check of a layer's guarantee that does not depend on the surrounding program."""

    def __call__(self, candidate: CandidateBlock, source: str) -> Iterable[StandaloneProgram]:
        """Return programs that check the changed call of a block.

        Args:
            candidate: a block that ran alone.
            source: the text of the seed program.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """The three mutation operators, and the checks of single layers."""

    replacement: MutationOperator
    """Operator AR (API replacement)."""
    generation: MutationOperator
    """Operator RG (random generation)."""
    boundary: BoundaryOperator
    """Operator BC (boundary checking)."""
    standalone_checks: tuple[StandaloneCheck, ...]
    """Checks of single layers outside of a program."""
    history: ReplacementHistory = field(default_factory=ReplacementHistory)
    """Results of earlier replacements by AR; the level updates it."""


def operators_of(
    records: Iterable[ApiRecord], encoder: Encoder, specifications: SpecificationReader
) -> Operators:
    """Return the operators for a library.

    Args:
        records: the records of the library's APIs.
        encoder: the encoder of API descriptions.
        specifications: the function that returns an API's specifications, by parameter.
    """
    apis = Apis(records)
    history = ReplacementHistory()
    return Operators(
        replacement=Replacement(Similarities(apis, encoder), history),
        generation=Generation(apis),
        boundary=Boundary(apis, specifications),
        standalone_checks=(SampleCheck(apis), OmissionCheck(apis)),
        history=history,
    )
