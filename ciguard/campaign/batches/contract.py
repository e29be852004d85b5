"""Interface between a stream, which runs batches, and the source of its batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ciguard.campaign.batches.feedback import Feedback
    from ciguard.domain.outcomes import Outcome
    from ciguard.knowledge import Experience
    from ciguard.levels import Batch


class UnknownProgressError(ValueError):
    """Stored progress that does not fit the batches of this run."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The turn of one batch."""

    number: int
    """Position in the order in which the source returns turns."""
    api: str
    """API that the batch tests."""
    visit: int
    """Number of earlier batches of the API; the index, if the level has no visits."""


class BatchSource(Protocol):
    """Chooses the next batch, and passes feedback to the level."""

    own: Collection[str] | None
    """APIs of this shard, whose batches are run; None for all."""
    last: int
    """Number of turns after which there are no more; 0 for no limit."""
    is_ordered: bool
    """True if batches are judged in the order of their turns."""
    avoids_crashes: bool
    """True if the level itself avoids inputs that crash or hang."""

    def samples(self) -> Sequence[tuple[Batch, int]]:
        """Return a batch of each size, and the number of turns with that size in order.

        The number is 0 for the last size, which all further turns have.
        """

    def next_turn(self) -> Turn | None:
        """Return the next turn; None if all of them wait for a running batch, or there are none."""

    def batch(self, turn: Turn) -> Batch | None:
        """Return the batch of a turn; None if it is skipped, as its API crashed too often."""

    def complete(
        self,
        turn: Turn,
        batch: Batch | None,
        outcomes: Mapping[str, Sequence[Outcome]],
        *,
        cost_s: float,
    ) -> None:
        """Record that a batch was judged, or skipped if there are no outcomes.

        Args:
            turn: turn of the batch.
            batch: batch as it was run, with the cases that have an outcome on every target.
            outcomes: outcomes of these cases, by target.
            cost_s: time of the workers, in seconds.
        """

    def reopen(self, turn: Turn) -> None:
        """Record that a batch was judged only in part: it does not count, and ends its API's turns.

        A resumed or repeated run makes the batch again.
        """

    @property
    def waiting(self) -> Collection[int]:
        """Numbers of the turns that wait for an earlier batch of the same API."""

    @property
    def is_at_end(self) -> bool:
        """True if there are no more turns, whatever the running batches return."""

    @property
    def apis(self) -> int:
        """Number of APIs that the source visits separately; 0 if it has no visits."""

    @property
    def unvisited(self) -> int:
        """Number of these APIs that no batch has tested yet."""

    @property
    def is_first_pass(self) -> bool:
        """True while some API has not had a turn yet."""

    @property
    def done(self) -> int:
        """Number of batches that were judged or skipped."""

    @property
    def visits(self) -> str:
        """Number of judged batches of each API, packed; empty if the level has no visits."""

    def end_at(self, done: int, visits: str) -> None:
        """Stop where an earlier run stopped, given its `done` and `visits`.

        Raises:
            UnknownProgressError: if they do not fit the APIs of this run.
        """

    def state(self) -> dict[str, Any]:
        """Return the state after the last judged batch, for `continue_from`."""

    def continue_from(self, state: Mapping[str, Any], feedback: Sequence[Feedback]) -> None:
        """Restore the state of an interrupted run of the same campaign.

        Args:
            state: state that `state` returned.
            feedback: all feedback that `new_feedback` returned.

        Raises:
            UnknownProgressError: if they do not fit the APIs of this run.
        """

    def new_feedback(self) -> list[Feedback]:
        """Return the feedback of the batches that were judged since the last call."""

    def learned(self) -> Mapping[str, Experience]:
        """Return the experience of the level, by API, with all feedback applied."""
