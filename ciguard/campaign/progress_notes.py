"""Notes in the journal of how far a run is, so that it can be resumed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ciguard.campaign.redoing import Redoing
from ciguard.campaign.stream import Stream
from ciguard.interrupts import held

if TYPE_CHECKING:
    from ciguard.campaign.state import CampaignState

_NOTE_EVERY_S = 1.0


class ProgressNotes:
    """Writes down what is done, and which of it rests on proven results."""

    def __init__(self, state: CampaignState, redoing: Redoing) -> None:
        """Make notes of a run.

        Args:
            state: of the run.
            redoing: knows what was void and is not replaced yet.
        """
        self._state = state
        self._redoing = redoing
        self._noted_at = 0.0
        self._noted_s = state.budget.elapsed_s
        """When the progress was written that `proven` is to follow."""
        self._waits_for: set[tuple[str, tuple[Any, ...]]] = set()
        """Target and key of the jobs that were unproven then."""
        self._is_complete = True
        """Whether every batch that was judged ran on all of its targets."""

    def end(self) -> None:
        """Note nothing from now on: batches lack a target, and none may count as done on resume."""
        self._is_complete = False

    def note(self, *, force: bool = False) -> None:
        """Write down how far the run is, about once a second, while all targets take part."""
        now = time.monotonic()
        if not self._is_complete or (not force and now - self._noted_at < _NOTE_EVERY_S):
            return
        self._noted_at = now
        is_proven = self._note_proofs()
        state = self._state
        members = state.members.values()
        targets: dict[str, Any] = {
            m.name: {"tally": m.tally.as_dict(), "exercised": sorted(m.unnoted)} for m in members
        }
        with held():
            for member in members:
                member.unnoted.clear()
            state.journal.progress(
                state.budget.elapsed_s,
                streams={name: stream.state() for name, stream in state.streams.items()},
                targets=targets,
                counts=state.intake.counts,
                lessons={name: stream.new_lessons() for name, stream in state.streams.items()},
                waits=not is_proven,
            )

    def _note_proofs(self) -> bool:
        """Write down what is proven since; return whether everything that was judged is."""
        state = self._state
        unproven = {
            (target, key)
            for target, key in state.dispatcher.unproven()
            if isinstance(key, tuple) and key[0] in {Stream.KEY, Redoing.KEY}
        }
        is_redone = self._redoing.is_settled and not any(k[0] == Redoing.KEY for _, k in unproven)
        if is_redone and not self._waits_for & unproven:
            if self._waits_for:
                state.journal.proven(self._noted_s)
            self._waits_for, self._noted_s = unproven, state.budget.elapsed_s
        return is_redone and not unproven
