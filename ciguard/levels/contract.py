"""The protocols of levels, and their registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ciguard.config import OWN_LEVELS
from ciguard.domain.outcomes import Crashed, Exhausted, Hung
from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    is_eager: bool = False
    """True if only targets in eager execution run the cases, so that the level can learn."""
    is_scouting: bool = False
    """True if only the target with the cheapest calls runs the cases, so that the level can
    learn."""


@runtime_checkable
class Level(Protocol):
    """A source of batches of cases, which it derives from knowledge about APIs.

    A batch is a pure function of the run's seed and the batch's index. So a campaign can be
    resumed, repeated and divided into shards by ranges of indices.
    """

    def cases(self, index: int) -> Batch:
        """Return the batch of an index; each call with that index returns an equal batch."""


@runtime_checkable
class IndexedLevel(Level, Protocol):
    """A level that can name a batch's API without making the batch, so that shards can skip it."""

    def api_of(self, index: int) -> str:
        """Return the API of the batch of an index."""


@runtime_checkable
class VisitedLevel(Protocol):
    """A level that visits each API separately, and learns from the outcomes.

    A batch is a pure function of the run's seed, its API, the number of earlier batches of this API
    and the feedback from these. So APIs can be visited in any order, at the same time, and on
    different machines.
    """

    @property
    def apis(self) -> Sequence[str]:
        """Names of all APIs, in a stable order."""

    @property
    def batch_sizes(self) -> Sequence[int]:
        """Numbers of cases in the first batches of an API; all further ones have the last."""

    def visit(self, api: str, number: int) -> Batch:
        """Return the batch of an API that follows `number` earlier ones."""

    def recall(self, learned: Mapping[str, Experience]) -> None:
        """Start with the experience of earlier campaigns, by API."""

    def feedback(self, batch: Batch, outcomes: Sequence[Outcome]) -> Experience | None:
        """Return the feedback of a batch without applying it; None if there is none."""

    def learn(self, api: str, feedback: Experience) -> None:
        """Apply feedback on an API to the batches that are made after this call."""

    def replay(self, api: str, feedback: Experience) -> None:
        """Register feedback of an earlier part of the same campaign; `learn` applies it later."""

    def learned(self) -> dict[str, Experience]:
        """Return the experience of earlier campaigns and of this one so far, by API."""


@runtime_checkable
class TabulatedLevel(VisitedLevel, Protocol):
    """A level that knows the kinds of its cases' arguments."""

    def argument_kinds(self, case: Case) -> Iterable[tuple[str, str]]:
        """Yield the kind of the parameter and that of the value of each argument.

        They are kinds of `ciguard.domain.value_table`. Arguments of other kinds are left out.
        """


@runtime_checkable
class ObservingLevel(VisitedLevel, Protocol):
    """A level that learns from the operators that run inside the calls of other APIs."""

    @property
    def observable(self) -> Sequence[str]:
        """Names of the APIs whose operators can be observed."""

    def calls_to_observe(self, learned: Mapping[str, Experience]) -> Iterator[Sequence[Case]]:
        """Yield the calls of each API in which operators are observed.

        They depend only on the experience, which the level does not use before `recall`.
        """

    def observed(self, calls: Iterable[Sequence[Json]]) -> dict[str, Experience]:
        """Return the experience from observed operators, by API.

        Args:
            calls: the name of each operator and its arguments by name, as JSON of values.
                Malformed ones are left out.
        """


@runtime_checkable
class GuidedLevel(Level, Protocol):
    """A level whose batches depend on the outcomes of earlier batches on all targets.

    Feedback is JSON, which the journal stores, so that a resumed campaign can apply it again.
    """

    def feedback(self, index: int, batch: Batch, outcomes: Mapping[str, Sequence[Outcome]]) -> Json:
        """Return the feedback of a batch without applying it.

        The campaign calls this in the order of the batches' indices.

        Args:
            index: the index of the batch.
            batch: the batch as it was run.
            outcomes: the outcomes of the batch's cases, by target.

        Returns:
            The feedback as JSON; None if there is none.
        """

    def update(self, feedback: Json) -> None:
        """Apply feedback to the batches that are made after this call.

        Raises:
            ValueError: if the feedback does not have the form that this level's `feedback` returns.
        """


COST_OF_HANG = 8
"""Cost of a hang, in units of the cost of a crash; a hang takes its whole timeout."""


def cost_of(outcome: Outcome) -> int:
    """Return the cost of an outcome: `COST_OF_HANG` for a hang, 1 if it ended a worker, else 0."""
    if isinstance(outcome, Hung):
        return COST_OF_HANG
    return int(
        isinstance(outcome, Crashed) or (isinstance(outcome, Exhausted) and outcome.was_killed)
    )


@runtime_checkable
class LevelSpec(Protocol):
    """The least that a registered level provides.

    Packages that need more than the name declare the methods in protocols of their own, such as
    `ciguard.campaign.RunnableLevel`.
    """

    @property
    def name(self) -> str:
        """Name of the level, as in `--level` and `Case.level`."""


LEVELS: Registry[LevelSpec] = Registry(
    "level",
    group="ciguard.levels",
    accepts=lambda item: isinstance(item, LevelSpec),
    built_in={name: f"ciguard.levels.{name}.spec:LEVEL" for name in OWN_LEVELS},
)
"""Registry of levels, in the order in which their cases are made."""
