"""A nightly run says since which release what is new shows: real uv, releases in a folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import answer, command, lines_of
from planted_wheel import planted_wheel

from ciguard.domain.plan import Plan, PlanMode, PlannedJob, plan_to_json

if TYPE_CHECKING:
    from pathlib import Path

TARGET = "ciguard-planted==1.3"
GOOD = "return n"
BAD = "import os\nos.kill(os.getpid(), 11)\nreturn n"
RELEASES = {"1.0": GOOD, "1.1": GOOD, "1.2": BAD, "1.3": BAD}
LIMITS = ("--target", TARGET, "--max-cases", "40", "--confirmations", "1", "--jobs", "1")
SINCE = "since 1.2; 1.1 does not show it"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a baseline that lacks the defect of `planted.checked`."""
    for version, checked in RELEASES.items():
        planted_wheel(tmp_path / "wheels", version, checked=checked, is_release=True)
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    done = answer(command("run", *LIMITS, "--api", "planted.divide", "--budget", "60s"), tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def judged(project: Path, mode: PlanMode, *words: str) -> Path:
    """Let a job of a plan find the defect, merge it as the action does, and return the results."""
    job = PlannedJob(name="planted", targets=(TARGET,))
    (project / "plan.json").write_text(json.dumps(plan_to_json(Plan(mode=mode, jobs=(job,)))))
    planned = ("--plan", "plan.json")
    ran = command(
        *("run", *LIMITS, "--api", "planted.checked", "--budget", "240s"),
        *(*planned, "--part", "--out", "part"),
    )
    done = answer(ran, project)
    assert done.returncode == 0, done.stderr
    merged = answer(command("merge", "part", *planned, "--out", "out", *words), project)
    assert merged.returncode == 1, merged.stderr
    return project / "out"


@pytest.mark.slow
def test_only_batch_runs_bisect_new_buckets(
    project: Path,
) -> None:
    asked = checked_in(judged(project, PlanMode.PULL_REQUEST, "--compare-only"))
    assert asked["since"] is None

    out = judged(project, PlanMode.BATCH)

    found = checked_in(out)
    assert found["since"] == {"first_bad": "1.2", "last_good": "1.1", "between": []}
    assert f"seen {SINCE}" in (out / "summary.md").read_text("utf-8")
    issues = [path.read_text("utf-8") for path in (project / ".ciguard" / "issues").iterdir()]
    assert any(f"Seen {SINCE}." in text for text in issues)
    shown = answer(command("show", found["fingerprint"], "--out", "out"), project)
    assert f"Seen {SINCE}" in shown.stdout
    assert checked_in(project / ".ciguard" / "baseline")["since"] == found["since"]


def checked_in(folder: Path) -> dict[str, Any]:
    """Return the bucket, or record, of `planted.checked`."""
    lines = lines_of(folder / "buckets.jsonl")
    (found,) = (line for line in lines if line.get("api") == "planted.checked")
    return found
