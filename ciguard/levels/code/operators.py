"""The three operators of level `code`, for one library."""

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
    from ciguard.levels.code.bare import Bare
    from ciguard.levels.code.blocks import Block, BlockMutant
    from ciguard.levels.code.boundary import LawReader
    from ciguard.levels.code.encoders import Encoder
    from ciguard.levels.code.nodes import CandidateBlock


class Operate(Protocol):
    """AR or RG."""

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return the block with one call changed; None where there is nothing to change."""


class Forbid(Protocol):
    """BC."""

    def mutants(self, block: Block, place: int) -> Sequence[BlockMutant]:
        """Return all that can be made of one call with one illegal value."""


class TryAlone(Protocol):
    """What a library promises of a layer, whatever is around it."""

    def __call__(self, candidate: CandidateBlock, source: str) -> Iterable[Bare]:
        """Return programs of the changed call of a block that ran alone.

        Args:
            candidate: the block.
            source: of the seed program.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Operators:
    """The three of them, and what is tried with a layer alone."""

    replacement: Operate
    generation: Operate
    boundary: Forbid
    promises: tuple[TryAlone, ...]
    experience: ReplacementHistory = field(default_factory=ReplacementHistory)
    """Of AR. The level keeps it."""


def operators_of(records: Iterable[ApiRecord], encoder: Encoder, laws: LawReader) -> Operators:
    """Return the operators for a library.

    Args:
        records: what the library says of its APIs.
        encoder: tells how alike they are by what is said of them.
        laws: reads what an API's own words forbid.
    """
    apis = Apis(records)
    experience = ReplacementHistory()
    return Operators(
        replacement=Replacement(Similarities(apis, encoder), experience),
        generation=Generation(apis),
        boundary=Boundary(apis, laws),
        promises=(Samples(apis), Omissions(apis)),
        experience=experience,
    )
