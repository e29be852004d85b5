"""Many jobs push one baseline at once and are killed: what was acknowledged stays, in one line."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from baseline_pusher import COMMON, name_of
from git_examples import bare_repository, git, served

from ciguard.baseline.git_branch import GitBranchStore
from ciguard.config import GitBranch

PUSHER = Path(__file__).parents[1] / "examples" / "baseline_pusher.py"
BRANCH = "ciguard-baseline"


class Job:
    """A pusher that is started again after every kill, behind what it acknowledged."""

    def __init__(self, remote: str, number: int, *, pushes: int, folder: Path) -> None:
        self.number = number
        self.kills = 0
        self._remote = remote
        self._pushes = pushes
        self._notes = folder / f"acknowledged-{number}"
        self._notes.touch()
        self.start()

    @property
    def acknowledged(self) -> list[int]:
        return [int(line) for line in self._notes.read_text().split()]

    @property
    def is_done(self) -> bool:
        return self.child.poll() is not None

    def start(self) -> None:
        first = max(self.acknowledged, default=-1) + 1
        words = [self._remote, self.number, first, self._pushes, self._notes]
        self.child = subprocess.Popen(
            [sys.executable, str(PUSHER), *map(str, words)], stderr=subprocess.PIPE, text=True
        )

    def kill(self) -> None:
        """End the job where it stands; its git lives on for a moment, as after a real kill."""
        self.child.send_signal(signal.SIGKILL)
        _, said = self.child.communicate()
        assert "Traceback" not in said
        self.kills += 1
        self.start()


def race(folder: Path, *, jobs: int, pushes: int, kills: int) -> tuple[str, list[Job]]:
    """Let jobs push at once, kill some now and then, and wait for the end of all."""
    rng = random.Random(jobs * pushes)
    bare_repository(folder / "served" / "remote.git")
    with served(folder / "served") as address:
        remote = f"{address}/remote.git"
        running = [Job(remote, n, pushes=pushes, folder=folder) for n in range(jobs)]
        while not all(job.is_done for job in running):
            time.sleep(rng.uniform(0.2, 1.0))
            victims = [job for job in running if not job.is_done]
            if victims and sum(job.kills for job in running) < kills:
                rng.choice(victims).kill()
        errors = [job.child.communicate()[1] for job in running]
    assert [job.child.returncode for job in running] == [0] * jobs, errors
    return os.fspath(folder / "served" / "remote.git"), running


@pytest.mark.parametrize(
    ("jobs", "pushes", "kills"),
    [
        (3, 3, 3),
        pytest.param(6, 12, 12, marks=pytest.mark.slow),
        pytest.param(8, 50, 60, marks=pytest.mark.release),
    ],
)
def test_no_update_is_lost_and_history_is_one_line(
    tmp_path: Path, jobs: int, pushes: int, kills: int
) -> None:
    remote, ran = race(tmp_path, jobs=jobs, pushes=pushes, kills=kills)

    stored = GitBranchStore(GitBranch(remote)).load()
    expected = {name_of(job.number, n) for job in ran for n in range(pushes)}
    assert sum(job.kills for job in ran) > 0
    assert all(job.acknowledged == list(range(pushes)) for job in ran)
    assert set(stored) == {*expected, COMMON}
    assert set(stored[COMMON].aliases) == expected
    lines = git(Path(remote), "rev-list", "--topo-order", "--parents", BRANCH).splitlines()
    parents = [line.split()[1:] for line in lines]
    assert [len(before) for before in parents] == [1] * (len(lines) - 1) + [0]
    assert len(lines) >= jobs * pushes
    git(Path(remote), "fsck", "--strict")
