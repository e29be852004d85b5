"""Recording of a run's progress in the journal, so that it can be resumed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ciguard.campaign.reruns import Reruns
from ciguard.campaign.stream import Stream
from ciguard.interrupts import held

if TYPE_CHECKING:
    from ciguard.campaign.state import CampaignState

_INTERVAL_S = 1.0


class ProgressRecorder:
    """Records the progress of a run, and which progress is based on proven results."""

    def __init__(self, state: CampaignState, reruns: Reruns) -> None:
        """Prepare the recorder.

        Args:
            state: state of the run.
            reruns: reruns of invalidated results.
        """
        self._state = state
        self._reruns = reruns
        self._recorded_at = 0.0
        self._unproven_s = state.budget.elapsed_s
        """Elapsed time of the progress line that the next `proven` line refers to, in seconds."""
        self._waits_for: set[tuple[str, tuple[Any, ...]]] = set()
        """Target and key of the jobs that were unproven at that time."""
        self._is_complete = True
        """True if every judged batch ran on all its targets."""

    def stop(self) -> None:
        """Stop recording, as later batches lack a target and must run again on resume."""
        self._is_complete = False

    def record(self, *, force: bool = False) -> None:
        """Record the progress about once per second, while all targets are running."""
        now = time.monotonic()
        if not self._is_complete or (not force and now - self._recorded_at < _INTERVAL_S):
            return
        self._recorded_at = now
        is_proven = self._record_proofs()
        state = self._state
        members = state.members.values()
        targets: dict[str, Any] = {
            member.name: {
                "tally": member.tally.as_dict(),
                "exercised": sorted(member.unrecorded_apis),
            }
            for member in members
        }
        with held():
            for member in members:
                member.unrecorded_apis.clear()
            state.journal.progress(
                state.budget.elapsed_s,
                streams={name: stream.state() for name, stream in state.streams.items()},
                targets=targets,
                counts=state.collector.counts,
                feedback={name: stream.new_feedback() for name, stream in state.streams.items()},
                waits=not is_proven,
            )

    def _record_proofs(self) -> bool:
        """Record newly proven progress; return whether all judged results are proven."""
        state = self._state
        unproven = {
            (target, key)
            for target, key in state.dispatcher.unproven()
            if isinstance(key, tuple) and key[0] in {Stream.KEY, Reruns.KEY}
        }
        has_reruns = any(key[0] == Reruns.KEY for _, key in unproven)
        is_replaced = self._reruns.is_settled and not has_reruns
        if is_replaced and not self._waits_for & unproven:
            if self._waits_for:
                state.journal.proven(self._unproven_s)
            self._waits_for, self._unproven_s = unproven, state.budget.elapsed_s
        return is_replaced and not unproven
