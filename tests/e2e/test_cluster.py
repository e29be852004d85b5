"""The shards of one campaign on a real cluster of two workers, one of which is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import (
    answer,
    batches_noted,
    buckets_of,
    campaign,
    command,
    lines_of,
    run_of,
    started,
    wait_until,
)
from command_server import environment

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

SHARDS = 4


@contextmanager
def process(*words: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a part of Dask; it has ended afterwards."""
    argv = [sys.executable, "-m", *words]
    with subprocess.Popen(
        argv, cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        try:
            yield running
        finally:
            running.kill()


@contextmanager
def cluster(folder: Path, *, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and workers that share the machine and nothing else."""
    file = folder / "scheduler.json"
    shared = ("--scheduler-file", str(file), "--no-dashboard")
    with ExitStack() as held:
        held.enter_context(
            process("distributed.cli.dask_scheduler", "--port", "0", *shared, folder=folder)
        )
        assert wait_until(file.exists)
        found = [
            held.enter_context(
                process(
                    "distributed.cli.dask_worker",
                    *("--no-nanny", "--nthreads", "1", "--name", f"worker-{number}"),
                    *shared,
                    folder=folder,
                )
            )
            for number in range(workers)
        ]
        yield address_in(file), found


def address_in(file: Path) -> str:
    address: str = json.loads(file.read_text("utf-8"))["address"]
    return address


def cluster_command(*words: str) -> list[str]:
    argv = campaign(*words)
    place = argv.index("run")
    return [*argv[:place], "cluster", "--shards", str(SHARDS), *argv[place + 1 :]]


def shards_under_way(out: Path) -> list[Path]:
    """Return the folders of shards that have results to lose."""
    folders = [one for one in (out / "shards").glob("*-of-*") if not (one / "run.json").exists()]
    return [folder for folder in folders if batches_noted(folder) >= 4]


def runs_shard(worker: subprocess.Popen[bytes], folder: Path) -> bool:
    """Return whether the process that writes to the shard's folder is this worker's child."""
    listed = Path(f"/proc/{worker.pid}/task").glob("*/children")
    children = [pid for path in listed for pid in path.read_text().split()]
    return any(str(folder) in Path(f"/proc/{pid}/cmdline").read_text() for pid in children)


def parts_of(out: Path) -> list[dict[str, Any]]:
    return lines_of(out / "parts.jsonl")


def test_a_shard_whose_worker_is_killed_goes_on_elsewhere_and_the_whole_is_the_same(
    tmp_path: Path, uninterrupted: set[tuple[Any, ...]]
) -> None:
    out = tmp_path / "out"
    with cluster(tmp_path, workers=2) as (address, workers):
        argv = cluster_command("--address", address, "--out", "out")
        with started(argv, tmp_path) as running:
            assert wait_until(lambda: bool(shards_under_way(out))), running.communicate()
            (folder, *_) = shards_under_way(out)
            (worker,) = (one for one in workers if runs_shard(one, folder))
            worker.send_signal(signal.SIGKILL)
            stdout, stderr = running.communicate(timeout=200)

    assert running.returncode == 0, stdout + stderr
    assert "2 workers" in stdout
    assert "(resumed from its journal)" in stdout
    assert "BASELINE ESTABLISHED" in stdout
    assert [part["shard"] for part in parts_of(out)] == ["1/4", "2/4", "3/4", "4/4"]
    assert buckets_of(out) == uninterrupted


def test_without_an_address_a_cluster_is_started_here(
    tmp_path: Path, uninterrupted: set[tuple[Any, ...]]
) -> None:
    argv = cluster_command("--workers", "2", "--out", "out")

    done = answer(argv, tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert buckets_of(tmp_path / "out") == uninterrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_launch_leaves_shards_that_can_be_merged_and_gone_on_with(
    tmp_path: Path, uninterrupted: set[tuple[Any, ...]], number: signal.Signals
) -> None:
    out = tmp_path / "out"
    argv = cluster_command("--workers", "1", "--out", "out")
    with started(argv, tmp_path) as running:
        assert wait_until(lambda: bool(shards_under_way(out))), running.communicate()
        running.send_signal(number)
        stdout, stderr = running.communicate(timeout=120)
    interrupted = running.returncode
    folders = sorted(str(path) for path in (out / "shards").glob("*-of-*"))
    merged = answer(command("merge", *folders, "--out", "merged"), tmp_path)

    resumed = answer([*argv, "--resume"], tmp_path)

    assert interrupted == 130, stdout + stderr
    assert merged.returncode == 3
    assert run_of(tmp_path / "merged")["verdict"] == "NOT RUN"
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert buckets_of(out) == uninterrupted


def test_a_scheduler_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    argv = cluster_command("--address", "tcp://127.0.0.1:9", "--out", "out")

    done = answer(argv, tmp_path)

    assert done.returncode == 2
    assert "tcp://127.0.0.1:9: no Dask cluster with workers answers" in done.stderr
