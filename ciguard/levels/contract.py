"""What makes the cases of a level, and the registry of levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ciguard.config import OWN_LEVELS
from ciguard.domain.outcomes import Crashed, Exhausted, Hung
from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.api_calls import CallKind
    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.knowledge import Experience


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Cases of one API that are sent to a worker together."""

    api: str
    kind: CallKind
    cases: tuple[Case, ...]


@runtime_checkable
class Level(Protocol):
    """Turns knowledge into cases.

    A pure function of the run's seed and the index: a campaign can be resumed, repeated and cut
    into shards by cutting the indices.
    """

    def cases(self, index: int) -> Batch:
        """Return the batch of that index, the same one whenever it is asked for."""


@runtime_checkable
class IndexedLevel(Level, Protocol):
    """A level that names the API of a batch without making it: shards pass over others' batches."""

    def api_of(self, index: int) -> str:
        """Return the API of the batch of that index."""


@runtime_checkable
class LearningLevel(Level, Protocol):
    """A level whose batches also follow from what the outcomes of earlier ones taught.

    The campaign decides when a lesson is put to use, so that the same seed and the same outcomes
    give the same batches however fast the workers are.
    """

    def recall(self, learned: Mapping[str, Experience]) -> None:
        """Begin with what earlier campaigns learned, by API."""

    def lesson(self, batch: Batch, outcomes: Sequence[Outcome]) -> Experience | None:
        """Return what a batch teaches; called in the order of the index, nothing is learned yet."""

    def learn(self, api: str, lesson: Experience) -> None:
        """Put a lesson to use in the batches that are made from now on."""

    def relearn(self, api: str, lesson: Experience) -> None:
        """Note a lesson of an earlier part of the same campaign; `learn` follows."""

    def learned(self) -> dict[str, Experience]:
        """Return what is known from outcomes by now, by API."""


@runtime_checkable
class GuidedLevel(Level, Protocol):
    """A level whose batches follow from what all targets made of earlier ones of this campaign.

    A lesson is JSON: the journal keeps it, so that a resumed campaign knows it too.
    """

    def taught(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        """Return what a batch teaches; called in the order of the index, nothing is learned yet.

        None where it teaches nothing.

        Args:
            index: of the batch.
            batch: as it was run.
            outcomes: of its cases, by target.
        """

    def guide(self, lesson: Json) -> None:
        """Put a lesson to use in the batches that are made from now on.

        Raises:
            ValueError: if this level did not draw it.
        """


COST_OF_HANG = 8
"""In deaths: a hang takes its whole limit."""


def cost_of(outcome: Outcome) -> int:
    """Return how much patience an outcome takes: a death costs a worker, a hang its whole limit."""
    if isinstance(outcome, Hung):
        return COST_OF_HANG
    return int(isinstance(outcome, Crashed) or (isinstance(outcome, Exhausted) and outcome.died))


@runtime_checkable
class LevelSpec(Protocol):
    """A level: all that other packages ask about it is asked here.

    Packages further right declare what they ask beyond the name: `ciguard.campaign.RunnableLevel`.
    """

    @property
    def name(self) -> str:
        """As in `--level`, and in `Case.level`."""


LEVELS: Registry[LevelSpec] = Registry(
    "level",
    group="ciguard.levels",
    accepts=lambda item: isinstance(item, LevelSpec),
    built_in={name: f"ciguard.levels.{name}.spec:LEVEL" for name in OWN_LEVELS},
)
"""In the order in which their cases are made."""
