"""The mutation operators of level `code` for one library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ciguard.levels.code.boundary import Boundary
from ciguard.levels.code.generation import Generation
from ciguard.levels.code.knowledge import Apis
from ciguard.levels.code.omissions import Omissions
from ciguard.levels.code.replacement import Replacement, ReplacementHistory
from ciguard.levels.code.samples import Samples
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
    """Operator AR or RG."""

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return the block with one call changed; None if there is nothing to change."""


class BoundaryOperator(Protocol):
    """Operator BC."""

    def mutants(self, block: Block, place: int) -> Sequence[BlockMutant]:
        """Return all mutants of one call with one illegal value."""


class StandaloneCheck(Protocol):
    """A check of a layer's guarantee that does not depend on the surrounding program."""

    def __call__(self, candidate: CandidateBlock, source: str) -> Iterable[StandaloneProgram]:
        """Return programs of the changed call of a block that ran alone.

        Args:
            candidate: the block.
            source: the text of the seed program.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """The three operators, and the checks of single layers."""

    replacement: MutationOperator
    generation: MutationOperator
    boundary: BoundaryOperator
    standalone_checks: tuple[StandaloneCheck, ...]
    experience: ReplacementHistory = field(default_factory=ReplacementHistory)
    """History of AR, which the level updates."""


def operators_of(
    records: Iterable[ApiRecord], encoder: Encoder, specifications: SpecificationReader
) -> Operators:
    """Return the operators for a library.

    Args:
        records: the records of its APIs.
        encoder: measures the similarity of the APIs' descriptions.
        specifications: reads what an API's documentation forbids.
    """
    apis = Apis(records)
    experience = ReplacementHistory()
    return Operators(
        replacement=Replacement(Similarities(apis, encoder), experience),
        generation=Generation(apis),
        boundary=Boundary(apis, specifications),
        standalone_checks=(Samples(apis), Omissions(apis)),
        experience=experience,
    )
