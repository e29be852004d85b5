"""A run that is cut short: nothing runs on, nothing is lost, the campaign can be continued."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import (
    answer,
    batches_noted,
    buckets_of,
    campaign,
    command,
    descendants,
    end_all,
    groups_of,
    is_under_way,
    living_in,
    run_of,
    started,
    wait_until,
)

if TYPE_CHECKING:
    from pathlib import Path

Buckets = set[tuple[Any, ...]]


def test_a_killed_run_leaves_no_process_and_is_resumed_to_the_same_buckets(
    tmp_path: Path, uninterrupted: Buckets
) -> None:
    out = tmp_path / "out"
    with started(campaign("--out", "out"), tmp_path) as process:
        assert wait_until(lambda: is_under_way(out)), process.communicate()
        workers = descendants(process.pid)
        groups = groups_of(workers) - groups_of({process.pid})
        process.kill()
        process.communicate()
    is_quiet = wait_until(lambda: not living_in(groups), timeout_s=10)
    end_all(living_in(groups))

    resumed = answer(command("run", "--resume", "--out", "out"), tmp_path)

    assert len(workers) >= 4, "two servers, each with a worker"
    assert len(groups) >= 4, "each in a group of its own"
    assert is_quiet
    assert resumed.returncode == 0, resumed.stderr
    assert "BASELINE ESTABLISHED" in resumed.stdout
    assert run_of(out)["resumed"] is True
    assert buckets_of(out) == uninterrupted


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_an_interrupted_run_sums_up_and_is_resumed_to_the_same_buckets(
    number: signal.Signals, tmp_path: Path, uninterrupted: Buckets
) -> None:
    out = tmp_path / "out"
    with started(campaign("--out", "out"), tmp_path) as process:
        assert wait_until(lambda: is_under_way(out)), process.communicate()
        workers = descendants(process.pid)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    interrupted, done = run_of(out), batches_noted(out)
    summary = (out / "summary.md").read_text("utf-8")

    resumed = answer(command("run", "--resume", "--out", "out"), tmp_path)

    assert process.returncode == 130, stderr
    assert "INTERRUPTED" in stdout
    assert "Interrupted after" in summary
    assert (interrupted["verdict"], interrupted["exit_code"]) == ("INTERRUPTED", 130)
    assert interrupted["buckets"]["new"] >= 1
    assert {path.name for path in out.iterdir()} >= {
        "run.json", "findings.jsonl", "buckets.jsonl", "junit.xml", "summary.md", "reproducers",
        "report.html",
    }  # fmt: skip
    assert not living_in(workers)
    assert resumed.returncode == 0, resumed.stderr
    assert batches_noted(out) > done
    assert buckets_of(out) == uninterrupted


@pytest.mark.slow
def test_a_run_interrupted_twice_is_still_the_same_campaign(
    tmp_path: Path, uninterrupted: Buckets
) -> None:
    out = tmp_path / "out"
    first = campaign("--out", "out")
    for argv in (first, command("run", "--resume", "--out", "out")):
        before = batches_noted(out)
        with started(argv, tmp_path) as process:
            assert wait_until(lambda seen=before: batches_noted(out) > seen + 4)  # type: ignore[misc]
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
        assert process.returncode == 130

    resumed = answer(command("run", "--resume", "--out", "out"), tmp_path)

    assert resumed.returncode == 0, resumed.stderr
    assert buckets_of(out) == uninterrupted


def test_resume_without_a_campaign_is_an_error(tmp_path: Path) -> None:
    done = answer(command("run", "--resume"), tmp_path)

    assert done.returncode == 2
    assert "journal.jsonl: nothing to resume" in done.stderr
    assert "Start a run without --resume" in done.stderr
