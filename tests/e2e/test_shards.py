"""A campaign in shards, one of them killed and resumed, against the same campaign in one run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

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

if TYPE_CHECKING:
    from pathlib import Path

SHARDS = 4
Buckets = set[tuple[Any, ...]]


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the results of four shards; the third was killed and resumed."""
    folder: Path = tmp_path_factory.mktemp("shards")
    for index in range(1, SHARDS + 1):
        argv = campaign("--shard", f"{index}/{SHARDS}", "--out", f"s{index}")
        if index == 3:
            with started(argv, folder) as process:
                assert wait_until(lambda: batches_noted(folder / "s3") > 0), process.communicate()
                process.kill()
                process.communicate()
            argv = command("run", "--resume", "--out", "s3")
        done = answer(argv, folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "PART DONE" in done.stdout
    return folder


def merge(shards: Path, *names: str, out: Path) -> Any:
    words = ["--out", str(out / "merged"), "--baseline", str(out / "baseline")]
    words += ["--tracker", str(out / "issues")]
    return answer(command("merge", *names, *words), shards)


@pytest.mark.slow
def test_the_shards_together_find_what_one_run_finds(
    shards: Path, tmp_path: Path, uninterrupted: Buckets
) -> None:
    done = merge(shards, "s4", "s2", "s1", "s3", out=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "BASELINE ESTABLISHED" in done.stdout
    assert buckets_of(tmp_path / "merged") == uninterrupted
    filed = {
        bucket["fingerprint"].replace(":", "-")
        for bucket in lines_of(tmp_path / "merged" / "buckets.jsonl")
        if bucket["severity"] not in {"low", "info"}
    }
    names = [issue.name for issue in (tmp_path / "issues").glob("*.md")]
    assert len(names) == len(filed), (sorted(names), sorted(filed))


def test_a_shard_writes_neither_baseline_nor_issues(shards: Path) -> None:
    assert run_of(shards / "s2")["shard"] == {"index": 2, "of": SHARDS}
    assert not (shards / ".ciguard").exists()


def test_the_shards_divide_the_apis(shards: Path) -> None:
    called = []
    for index in range(1, SHARDS + 1):
        (part,) = lines_of(shards / f"s{index}" / "parts.jsonl")
        (apis,) = {tuple(names) for names in part["exercised"].values()}
        called += list(apis)

    assert len(called) == len(set(called)) == 8


def test_merging_what_was_merged_changes_nothing(shards: Path, tmp_path: Path) -> None:
    merge(shards, "s1", "s2", "s3", "s4", out=tmp_path / "at once")
    merge(shards, "s1", "s2", out=tmp_path / "some")
    some = str(tmp_path / "some" / "merged")

    again = merge(shards, some, "s4", "s3", "s2", out=tmp_path / "in steps")

    assert again.returncode == 0, again.stdout + again.stderr
    for name in ("buckets.jsonl", "parts.jsonl"):
        at_once, in_steps = (tmp_path / way / "merged" / name for way in ("at once", "in steps"))
        assert in_steps.read_text("utf-8") == at_once.read_text("utf-8")


def test_a_missing_and_a_damaged_shard_are_in_every_report(shards: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    text = (shards / "s3" / "parts.jsonl").read_text("utf-8")
    (damaged / "parts.jsonl").write_text(text[: len(text) // 2], "utf-8")

    done = merge(shards, "s1", "s2", str(damaged), out=tmp_path)

    out = tmp_path / "merged"
    summary = (out / "summary.md").read_text("utf-8")
    junit = ET.parse(out / "junit.xml")
    skipped = [case.get("name", "") for case in junit.iter("testcase") if len(case)]
    not_run = [target["name"] for target in run_of(out)["targets"] if target["not_run"]]
    assert done.returncode == 3
    assert "shard 4/4" in done.stdout
    assert [name.split(" of ")[0] for name in not_run] == [str(damaged), "shard 3/4", "shard 4/4"]
    assert "## NOT RUN (3)" in summary
    assert summary.count("shard 3/4") >= 1
    assert any("shard 4/4" in name for name in skipped)
    assert run_of(out)["buckets"]["new"] >= 2
    assert not (tmp_path / "baseline").exists()


def test_merge_reports_rows_of_the_plan_without_results(shards: Path, tmp_path: Path) -> None:
    jobs = [
        {"name": "gpu", "targets": ["torch==2.13.0@cuda"], "base": [], "device": "cuda",
         "runs_on": ["gpu"], "shard": "1/1"}
    ]  # fmt: skip
    plan = {"schema": 1, "mode": "batch", "reasons": [], "changes": [], "jobs": jobs,
            "skipped": [], "focus": [], "uses": {}}  # fmt: skip
    (tmp_path / "plan.json").write_text(json.dumps(plan), "utf-8")
    every = [f"s{index}" for index in range(1, SHARDS + 1)]

    done = merge(shards, *every, "--plan", str(tmp_path / "plan.json"), out=tmp_path)

    assert done.returncode == 3
    assert "shard 1/1 of torch==2.13.0@cuda: NOT RUN: it has no result" in done.stdout


@pytest.mark.parametrize("shard", ["0/4", "5/4", "2", "a/b"])
def test_invalid_shards_are_rejected_before_a_case_runs(shard: str, tmp_path: Path) -> None:
    done = answer(campaign("--shard", shard), tmp_path)

    assert done.returncode == 2
    assert "--shard" in done.stderr
    assert "Write I/N with 1 <= I <= N" in done.stderr
    assert not (tmp_path / ".ciguard").exists()
