"""Two jobs file the same buckets at once, in an order and with faults that a seed decides."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from baseline_examples import record
from github_server import Fault, GitHubServer, Request
from tracker_stages import GitHubStage

from ciguard.baseline import FolderStore
from ciguard.trackers import Desk, Outbox, Report, marker
from ciguard.trackers.contract import marked_with
from ciguard.trackers.tasks import File, Refresh

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.trackers.tasks import Task

FILERS = ("one", "two")
NEW = ("v1:00000000000000a1", "v1:00000000000000a2")
KNOWN = "v1:00000000000000b1"
BACK = "v1:00000000000000c1"
BUCKETS = (*NEW, KNOWN, BACK)
NEWS = "Also met on torch==2.14.0."
WHY = "Met again on torch==2.13.0."
ROOM = 5
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
    """Open issues by bucket when the two jobs have ended."""
    open_later: dict[str, int]
    """The same after the next run."""
    said: dict[str, list[str]]
    """By bucket, what its open issue's history says."""
    left: int
    """Tasks that still wait."""
    requests: int
    faults: int
    violations: list[str]


def play(seed: int, folder: Path) -> Ending:
    """Run one schedule, then an undisturbed run of each job."""
    rng = random.Random(seed)  # noqa: S311 - reproducible, no secret
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
        dies = {filer: rng.random() < 0.15 for filer in FILERS}
        gate.enter(*FILERS)
        threads = [
            threading.Thread(target=_job, args=(stage, filer, folder, gate, dies[filer]))
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


def _report(fingerprint: str) -> Report:
    body = f"{marker(fingerprint)}\n\nthe body"
    return Report(fingerprint=fingerprint, title=f"bug {fingerprint}", body=body)


def _tasks() -> list[Task]:
    return [
        File(report=_report(BACK), because=WHY),
        *(File(report=_report(name)) for name in NEW),
        Refresh(report=_report(KNOWN), news=NEWS),
    ]


_RECORDS = {name: record(name) for name in BUCKETS}


def _prepare(stage: GitHubStage) -> None:
    tracker = stage.tracker()
    tracker.open(_report(KNOWN))
    tracker.close(tracker.open(_report(BACK)), "gone")
    stage.clock.sleep(48 * _HOUR_S)


def _job(stage: GitHubStage, filer: str, folder: Path, gate: Turnstile, dies: bool) -> None:  # noqa: FBT001 - called by a thread
    try:
        desk = Desk(stage.tracker(filer=filer), Outbox(FolderStore(folder / filer)))
        desk.work(_tasks(), _RECORDS, room=ROOM)
        if not dies:  # killed before it could note what is done
            desk.settle()
    finally:
        gate.leave(filer)


def _next_run(stage: GitHubStage, filer: str, folder: Path) -> int:
    outbox = Outbox(FolderStore(folder / filer))
    desk = Desk(stage.tracker(filer=filer), outbox)
    # It meets the buckets again, so it looks at their issues even where nothing waits.
    waiting = {task.fingerprint for task in outbox.tasks() if isinstance(task, File)}
    met = [File(report=_report(name)) for name in BUCKETS if name not in waiting]
    desk.work(met, _RECORDS, room=ROOM)
    desk.settle()
    return len(outbox.tasks())


def _open(server: GitHubServer) -> dict[str, int]:
    counts = dict.fromkeys(BUCKETS, 0)
    for stored in server.repository.issues.values():
        if stored.latest["state"] == "open":
            counts[marked_with(stored.latest["body"])] += 1
    return counts


def _said(stage: GitHubStage) -> dict[str, list[str]]:
    tracker = stage.tracker()
    found = {name: tracker.find(name) for name in BUCKETS}
    return {name: stage.entries(issue) for name, issue in found.items() if issue is not None}
