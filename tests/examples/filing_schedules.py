"""Two jobs file the same groups at once, in an order and with faults that a seed decides.

Each has met other members of them, in another order.
"""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from baseline_examples import record
from github_server import Fault, GitHubServer, Request
from tracker_stages import GitHubStage

from ciguard.baseline.store import FolderStore
from ciguard.trackers import IssueFiler, Outbox
from ciguard.trackers.contract import Report, marked_with, marker
from ciguard.trackers.tasks import File, Refresh

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.trackers.tasks import Task

FILERS = ("one", "two")
NEW = ("g1:00000000000000a1", "g1:00000000000000a2")
KNOWN = "g1:00000000000000b1"
"""Filed under the fingerprint of one bucket."""
BACK = "g1:00000000000000c1"
ALONE = "v1:00000000000000d0"
"""A bucket that shares its cause with no other; new, too."""
JOINED = "g1:00000000000000e1"
"""Of two buckets that had an issue each."""
GROUPS = (*NEW, KNOWN, BACK, ALONE, JOINED)
MEMBERS = {
    group: [group] if group == ALONE else [f"v1:{group[3:-1]}{number:x}" for number in range(2, 6)]
    for group in GROUPS
}
_GROUP_OF = {name: group for group, names in MEMBERS.items() for name in (group, *names)}
NEWS = "Also seen on torch==2.14.0."
WHY = "Seen again on torch==2.13.0."
ROOM = 8
_HOUR_S = 3600.0
_FAULTS = {
    Fault.BAD_GATEWAY: 3,
    Fault.LATE_BAD_GATEWAY: 4,
    Fault.ERROR: 2,
    Fault.RESET: 3,
    Fault.LATE_RESET: 4,
    Fault.HALF_AN_ANSWER: 2,
    Fault.SECONDARY_LIMIT: 2,
    Fault.TOO_MANY: 1,
    Fault.PRIMARY_LIMIT: 0.5,
    Fault.TIMEOUT: 0.1,
}


class Turnstile:
    """Lets one request through at a time, and only when every filer stands before it."""

    def __init__(self, rng: random.Random, *, fault_rate: float) -> None:
        self._rng = rng
        self._fault_rate = fault_rate
        self._inside: set[str] = set()
        self._waiting: set[str] = set()
        self._next = ""
        self._changed = threading.Condition()

    def enter(self, *filers: str) -> None:
        self._inside |= set(filers)

    def leave(self, filer: str) -> None:
        with self._changed:
            self._inside.discard(filer)
            self._choose()

    def __call__(self, request: Request) -> Fault | None:
        """Wait for the turn; then tell what goes wrong with the request."""
        with self._changed:
            self._waiting.add(request.filer)
            self._choose()
            if not self._changed.wait_for(lambda: self._next == request.filer, timeout=30):
                raise TimeoutError(request)
            self._waiting.discard(request.filer)
            self._next = ""
            if self._rng.random() >= self._fault_rate:
                return None
            return self._rng.choices(list(_FAULTS), weights=list(_FAULTS.values()))[0]

    def _choose(self) -> None:
        if not self._next and self._waiting and self._waiting >= self._inside:
            self._next = self._rng.choice(sorted(self._waiting))
            self._changed.notify_all()


@dataclass(frozen=True)
class Ending:
    """What people find in the repository afterwards."""

    open_at_once: dict[str, int]
    """Open issues by group when the two jobs have ended."""
    open_later: dict[str, int]
    """The same after the next run."""
    said: dict[str, list[str]]
    """By group, what its open issue's history says."""
    left: int
    """Tasks that still wait."""
    requests: int
    faults: int
    violations: list[str]


@dataclass(frozen=True)
class _Job:
    folder: Path
    tasks: list[Task]
    dies: bool


def play(seed: int, folder: Path) -> Ending:
    """Run one schedule, then an undisturbed run of each job."""
    rng = random.Random(seed)
    gate = Turnstile(rng, fault_rate=rng.choice([0.0, 0.1, 0.3, 0.6]))
    faults: list[Fault] = []

    def counted(request: Request) -> Fault | None:
        fault = gate(request)
        faults.extend([fault] if fault else [])
        return fault

    with GitHubServer(filers=FILERS, gate=lambda _: None) as server:
        stage = GitHubStage(server)
        _prepare(stage)
        server.clock.sleep(_HOUR_S)
        server.gate = counted
        server.repository.lag_s = rng.choice([0.0, 0.0, 2.0, 15.0, 120.0])
        jobs = {
            filer: _Job(folder=folder, tasks=_tasks(rng), dies=rng.random() < 0.15)
            for filer in FILERS
        }
        gate.enter(*FILERS)
        threads = [
            threading.Thread(target=_job, args=(stage, filer, jobs[filer], gate))
            for filer in FILERS
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        at_once = _open(server)
        server.gate = lambda _: None
        server.repository.lag_s = 0.0
        server.clock.sleep(_HOUR_S)
        left = sum(_next_run(stage, filer, folder) for filer in FILERS)
        return Ending(
            open_at_once=at_once,
            open_later=_open(server),
            said=_said(stage),
            left=left,
            requests=len(server.requests),
            faults=len(faults),
            violations=server.violations,
        )


def _report(name: str, aliases: tuple[str, ...] = ()) -> Report:
    body = f"{marker(name)}\n\nthe body: {' '.join(aliases)}"
    return Report(fingerprint=name, title=f"bug {name}", body=body, aliases=aliases)


def _seen(group: str, rng: random.Random) -> Report:
    """Return the report of a job that has met some members; those of old issues are recorded."""
    members = MEMBERS[group]
    met = rng.sample(members[2:], k=rng.randint(1, 2)) if len(members) > 1 else []
    names = [name for name in (*members[:2], *met) if name != group]
    return _report(group, tuple(rng.sample(names, k=len(names))))


def _tasks(rng: random.Random) -> list[Task]:
    tasks: list[Task] = [
        File(report=_seen(BACK, rng), because=WHY),
        *(File(report=_seen(name, rng)) for name in (*NEW, ALONE)),
    ]
    rng.shuffle(tasks)
    news = [Refresh(report=_seen(KNOWN, rng), news=NEWS), Refresh(report=_seen(JOINED, rng))]
    return [*tasks, *news]


_RECORDS = {name: record(name) for names in MEMBERS.values() for name in names}


def _prepare(stage: GitHubStage) -> None:
    tracker = stage.tracker()
    tracker.open(_report(MEMBERS[KNOWN][0]))
    tracker.close(tracker.open(_report(MEMBERS[BACK][1])), "gone")
    for name in MEMBERS[JOINED][:2]:
        tracker.open(_report(name))
    stage.clock.sleep(48 * _HOUR_S)


def _job(stage: GitHubStage, filer: str, job: _Job, gate: Turnstile) -> None:
    try:
        issue_filer = IssueFiler(
            stage.tracker(filer=filer), Outbox(FolderStore(job.folder / filer))
        )
        issue_filer.work(job.tasks, _RECORDS, max_new=ROOM)
        if not job.dies:  # killed before it could note what is done
            issue_filer.settle()
    finally:
        gate.leave(filer)


def _next_run(stage: GitHubStage, filer: str, folder: Path) -> int:
    outbox = Outbox(FolderStore(folder / filer))
    issue_filer = IssueFiler(stage.tracker(filer=filer), outbox)
    # It meets the groups again, so it looks at their issues even where nothing waits.
    waiting = {task.fingerprint for task in outbox.tasks() if isinstance(task, File)}
    met = [
        File(report=_report(group, tuple(name for name in MEMBERS[group] if name != group)))
        for group in GROUPS
        if group not in waiting
    ]
    issue_filer.work(met, _RECORDS, max_new=ROOM)
    issue_filer.settle()
    return len(outbox.tasks())


def _open(server: GitHubServer) -> dict[str, int]:
    counts = dict.fromkeys(GROUPS, 0)
    for stored in server.repository.issues.values():
        if stored.latest["state"] == "open":
            counts[_GROUP_OF[marked_with(stored.latest["body"])]] += 1
    return counts


def _said(stage: GitHubStage) -> dict[str, list[str]]:
    tracker = stage.tracker()
    found = {group: tracker.find(group, *MEMBERS[group]) for group in GROUPS}
    return {group: stage.entries(issue) for group, issue in found.items() if issue is not None}
