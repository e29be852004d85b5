"""New crashes under a debugger: where in the library's native code each one happened.

Those that a device did not survive are seen by a sanitizer of its kernels instead.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.baseline import find_record
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.workers import worker_spec
from ciguard.domain.outcomes import Crashed
from ciguard.execution import find_debugger, find_sanitizer, sanitized, trace
from ciguard.oracles.relations import encode
from ciguard.triage import native_frames

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.campaign.group import Member
    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket
    from ciguard.domain.outcomes import Frame

_MAX_SANITIZED_S = 120.0


class Trace(CampaignStage):
    """Looks at crashes with a debugger, where there is one."""

    name = "trace"

    def __init__(self, state: CampaignState) -> None:
        self._state = state

    def run(self, turns: Turns) -> Iterator[Event]:
        """Note where each crash that was met happened; what is new comes first."""
        del turns
        state = self._state
        until = state.budget.trace_until
        for bucket, stack in traced(self._untraced(), state.members, state.config, until=until):
            state.intake.explain(bucket, stack)
        yield from ()

    def _untraced(self) -> list[Bucket]:
        """Return what was met and no debugger has seen."""
        new, known = [], []
        for bucket in self._state.intake.worst_first():
            records = self._state.memory.records
            record = find_record(records, bucket.fingerprint, *bucket.aliases)
            if record is None:
                new.append(bucket)
            elif not record.native_stack:
                known.append(bucket)
        return [*new, *known]


def traced(
    buckets: Iterable[Bucket], members: Mapping[str, Member], config: Config, *, until: float
) -> Iterator[tuple[Bucket, tuple[Frame, ...]]]:
    """Yield the buckets whose crash the debugger saw, each with its native frames.

    Args:
        buckets: confirmed ones, those that matter most first.
        members: targets by name.
        config: limits of a case.
        until: when the last one must have ended, on the clock of `time.monotonic`.
    """
    debugger, sanitizer = find_debugger(), find_sanitizer()
    for bucket in buckets:
        name = bucket.finding.targets[-1]
        member = members.get(name)
        outcome = bucket.finding.outcomes.get(name)
        if not isinstance(outcome, Crashed) or not bucket.finding.case.is_run_by_worker:
            continue
        if bucket.native_stack or member is None or member.not_run:
            continue
        limit_s = until - time.monotonic()
        if limit_s <= 0:
            break
        spec = worker_spec(name, member.environment, config)
        case = encode(bucket.finding.case)
        frames: tuple[Frame, ...] = ()
        if outcome.is_of_device and sanitizer is not None:
            limit_s = min(limit_s, _MAX_SANITIZED_S)
            frames = sanitized(spec, case, sanitizer=sanitizer, limit_s=limit_s).frames
        elif debugger is not None and not outcome.is_of_device:
            seen = trace(spec, case, debugger=debugger, limit_s=limit_s)
            frames = native_frames(seen.frames)
        if frames:
            yield bucket, frames
