"""Progress of a run, computed from its events for the reporters that show it live."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.events import (
    BatchFinished,
    BucketFlaky,
    BucketOpened,
    DocumentationChecked,
    Event,
    Provisioning,
    RunFinished,
    RunStarted,
    StageFinished,
    TargetReady,
    TargetUnavailable,
)
from ciguard.domain.findings import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.documentation import DocumentationFinding

STAGES = (
    "provision",
    "describe",
    "replay",
    "explore",
    "relatives",
    "libraries",
    "measure",
    "count",
    "confirm",
    "minimise",
    "attribute",
    "detect",
    "trace",
    "reproduce",
    "remember",
)
RATE_WINDOW_S = 10.0


@dataclass(slots=True)
class TargetProgress:
    """Progress of one target."""

    state: str = "waiting"
    """Current activity of the target, or the reason why it does not run. May hold fuzzed text."""
    tally: Counter[str] = field(default_factory=Counter)
    recent: deque[tuple[float, int]] = field(default_factory=deque)
    """Time and number of cases of each batch in the last `RATE_WINDOW_S` seconds."""

    def rate(self, now_s: float) -> float:
        """Return the cases per second in the last `RATE_WINDOW_S` seconds."""
        recent = [
            (time_s, cases)
            for time_s, cases in list(self.recent)
            if time_s >= now_s - RATE_WINDOW_S
        ]
        if len(recent) < 2:  # noqa: PLR2004 - a rate needs two points in time
            return float(sum(cases for _, cases in recent))
        # The cases of the first batch ran before its time, at which the span begins.
        return sum(cases for _, cases in recent[1:]) / max(now_s - recent[0][0], 0.001)


class Progress:
    """Stage, targets and numbers of a run, which `receive` updates with each event."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began_s: float | None = None
        self._finished_stages: set[str] = set()
        self.budget_s = 0.0
        self.step = ""
        """Current step of provisioning, as text. May hold output of the installer."""
        self.targets: dict[str, TargetProgress] = {}
        self.bucket_counts: Counter[int] = Counter()
        self.flaky_count = 0
        self.documentation: list[DocumentationFinding] = []
        """Findings about the documentation of libraries."""

    @property
    def stage(self) -> str:
        """Name of the current stage."""
        return next((name for name in STAGES if name not in self._finished_stages), STAGES[-1])

    @property
    def cases(self) -> int:
        """Number of cases executed on all targets."""
        return sum(target.tally.total() for target in self.targets.values())

    @property
    def now_s(self) -> float:
        """Current time of the clock, in seconds."""
        return self._clock()

    @property
    def left_s(self) -> float:
        """Seconds that are left of the budget, which starts when the targets are provisioned."""
        if self._began_s is None:
            return self.budget_s
        return max(0.0, self.budget_s - (self.now_s - self._began_s))

    @property
    def rate(self) -> float:
        """Cases per second on all targets together."""
        now_s = self.now_s
        return sum(target.rate(now_s) for target in self.targets.values())

    def receive(self, event: Event) -> None:
        """Update the state with the next event."""
        match event:
            case RunStarted():
                self.budget_s = event.budget_s
                self.targets = {name: TargetProgress() for name in event.targets}
            case Provisioning():
                self._provision(event)
            case TargetReady():
                apis = event.target.apis
                self._target(event.target.name).state = f"{apis:,} APIs" if apis else "ready"
            case TargetUnavailable():
                self._target(event.target).state = f"not run: {event.reason}"
            case BatchFinished():
                self._begin()
                self._count(event)
            case BucketOpened() | BucketFlaky():
                self._count_bucket(event)
            case DocumentationChecked():
                self.documentation += event.findings
            case StageFinished():
                self._finish(event.stage)
            case RunFinished():
                self._finished_stages.update(STAGES)
            case _:
                pass

    def _count_bucket(self, event: BucketOpened | BucketFlaky) -> None:
        if isinstance(event, BucketFlaky):
            self.flaky_count += 1
        else:
            self.bucket_counts[event.bucket.finding.severity] += 1

    def _provision(self, event: Provisioning) -> None:
        self.step = "" if event.done else event.step
        if event.target in self.targets:
            self.targets[event.target].state = event.step

    def _target(self, name: str) -> TargetProgress:
        return self.targets.setdefault(name, TargetProgress())

    def _begin(self) -> None:
        if self._began_s is None:
            self._began_s = self.now_s

    def _finish(self, stage: str) -> None:
        if stage in STAGES:
            # A stage that has nothing to do sends no event, but earlier stages have ended too.
            self._finished_stages.update(STAGES[: STAGES.index(stage) + 1])
        if stage == STAGES[0]:
            self._begin()

    def _count(self, event: BatchFinished) -> None:
        target, now_s = self._target(event.target), self.now_s
        target.tally.update(event.counts)
        target.recent.append((now_s, sum(event.counts.values())))
        while target.recent and target.recent[0][0] < now_s - RATE_WINDOW_S:
            target.recent.popleft()


STATUSES = tuple(Tally().as_dict())
"""Statuses of outcomes, in display order."""
