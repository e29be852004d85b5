"""Tracing stage: native stacks of crashes, taken with a debugger.

For crashes of a device, and for the most severe differences in its values, a sanitizer locates the
error in its kernels instead.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.baseline import find_record
from ciguard.campaign.capacity import debuggers_at_once
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.campaign.workers import worker_spec
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed
from ciguard.execution import DebuggerRun, find_debugger, find_sanitizer, run_sanitizer
from ciguard.oracles.comparing import is_numeric_difference
from ciguard.oracles.relations import encode
from ciguard.triage import native_frames

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.campaign.group import Member
    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.outcomes import Frame
    from ciguard.execution import WorkerSpec

_MAX_SANITIZED_S = 120.0
_POLL_S = 0.02
_MAX_DIFFERENCES = 3
"""Maximum number of differences that run under the sanitizer, which takes a minute each."""


class Trace(CampaignStage):
    """Traces crashes with a debugger, if the machine has one."""

    name = "trace"

    def __init__(self, state: CampaignState) -> None:
        self._state = state

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Record the native stack of each crash of this run, new ones first."""
        del loop
        state = self._state
        until = state.budget.trace_until
        for bucket, stack in traced(self._untraced(), state.members, state.config, until=until):
            state.collector.set_native_stack(bucket, stack)
        yield from ()

    def _untraced(self) -> list[Bucket]:
        """Return the buckets of this run without a native stack, new ones first."""
        new, known = [], []
        for bucket in self._state.collector.by_severity():
            records = self._state.baseline.records
            record = find_record(records, bucket.fingerprint, *bucket.aliases)
            if record is None:
                new.append(bucket)
            elif not record.native_stack:
                known.append(bucket)
        return [*new, *known]


def traced(
    buckets: Iterable[Bucket], members: Mapping[str, Member], config: Config, *, until: float
) -> Iterator[tuple[Bucket, tuple[Frame, ...]]]:
    """Yield the buckets whose crash was traced, each with its native frames.

    As many debuggers run at a time as there are cores. Sanitizers run one by one.

    Args:
        buckets: confirmed buckets, the most important first.
        members: targets by name.
        config: settings, with the limits of a case.
        until: deadline on the clock of `time.monotonic`.
    """
    runs: deque[tuple[Bucket, DebuggerRun]] = deque()
    lanes = debuggers_at_once()
    with ExitStack() as started:
        for entry in _traceable(buckets, members, config):
            while sum(run.is_running for _, run in runs) >= lanes and time.monotonic() < until:
                time.sleep(_POLL_S)
            yield from _ended(runs)
            limit_s = until - time.monotonic()
            if limit_s <= 0:
                break
            case = encode(entry.bucket.finding.case)
            if entry.is_sanitized:
                limit_s = min(limit_s, _MAX_SANITIZED_S)
                trace = run_sanitizer(entry.spec, case, sanitizer=entry.tool, limit_s=limit_s)
                if trace.frames:
                    yield entry.bucket, trace.frames
            else:
                run = started.enter_context(DebuggerRun(entry.spec, case, debugger=entry.tool))
                runs.append((entry.bucket, run))
        while runs:
            runs[0][1].wait(max(0.0, until - time.monotonic()))
            yield from _first(runs)


def _ended(runs: deque[tuple[Bucket, DebuggerRun]]) -> Iterator[tuple[Bucket, tuple[Frame, ...]]]:
    """Remove the first debuggers until one is running; see `_first`."""
    while runs and not runs[0][1].is_running:
        yield from _first(runs)


def _first(runs: deque[tuple[Bucket, DebuggerRun]]) -> Iterator[tuple[Bucket, tuple[Frame, ...]]]:
    """Remove and end the first debugger; yield its bucket if there are native frames."""
    bucket, run = runs.popleft()
    frames = native_frames(run.trace().frames)
    run.close()
    if frames:
        yield bucket, frames


@dataclass(frozen=True, slots=True)
class _Traceable:
    """A bucket whose case is to run under a tool."""

    bucket: Bucket
    spec: WorkerSpec
    tool: Path
    is_sanitized: bool


def _traceable(
    buckets: Iterable[Bucket], members: Mapping[str, Member], config: Config
) -> Iterator[_Traceable]:
    """Yield the buckets that can be traced on this machine."""
    debugger, sanitizer = find_debugger(), find_sanitizer()
    differences = 0
    for bucket in buckets:
        finding = bucket.finding
        name = finding.targets[-1]
        member = members.get(name)
        if bucket.native_stack or member is None or member.not_run:
            continue
        is_difference = _may_be_due_to_memory(finding, member)
        is_crash = isinstance(finding.outcomes.get(name), Crashed)
        on_device = finding.loses_device or is_difference
        tool = sanitizer if on_device else debugger
        if tool is None or not (is_crash or is_difference) or not finding.case.is_run_by_worker:
            continue
        differences += is_difference
        if is_difference and differences > _MAX_DIFFERENCES:
            continue
        spec = worker_spec(name, member.environment, config)
        yield _Traceable(bucket, spec, tool, on_device)


def _may_be_due_to_memory(finding: Finding, member: Member) -> bool:
    """Return whether a device's read of uninitialised memory, or a race, can cause a difference."""
    is_pair = finding.pair is not PairKind.NONE and is_numeric_difference(finding)
    return is_pair and member.identity.device != "cpu"
