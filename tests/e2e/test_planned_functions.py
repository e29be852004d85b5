"""From a commit that changes an annotated program to the plan, and from the plan to the failure."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from action_scenarios import BEFORE, INPUTS, commit, event, git, origin
from ciguard_command import PLANTED, answer, command, lines_of

if TYPE_CHECKING:
    from pathlib import Path

    from action_runner import Runner

OTHERS = 12
"""Programs that no commit changes, and whose names come before the one that is."""
MAX_CASES = 24
"""So few that the last of the programs, taken in turn, is not reached."""
OTHER = """\
from ciguard.annotations import arg, ints


@arg("x", ints(0, 9))
def same(x):
    return x
"""
PROGRAM = """\
import numpy as np
from ciguard.annotations import arg, ints, np_arrays, require


@arg("series", np_arrays("float64", ("n",), min=-10, max=10))
@arg("size", ints(1, 6))
@require("size <= len(series)")
def windows(series, size):
    starts = range(len(series) - size + {past})
    return np.stack([series[start : start + size] for start in starts])
"""
RIGHT, WRONG = PROGRAM.replace("{past}", "1"), PROGRAM.replace("{past}", "2")
SETTINGS = """\
targets = {targets}
levels = ["function"]
functions = ["*.py"]
max-cases = {most}
budget = "60s"
out = "out"
"""


def project(folder: Path, **files: str) -> str:
    """Commit programs without a fault, and return the commit."""
    git(folder, "init", "--quiet", "--initial-branch", "main")
    others = {f"a{number:02}__py": OTHER for number in range(OTHERS)}
    ignored = {"__gitignore": "out/\nplan.json\n.ciguard/\n"}
    return commit(folder, model__py=RIGHT, **others, **ignored, **files)


def commands_in(explained: str) -> list[list[str]]:
    """Return the words of the commands that `ciguard plan` says run its rows."""
    lines = [line for line in explained.splitlines() if line.startswith("run it: ciguard ")]
    return [shlex.split(line.removeprefix("run it: ciguard ")) for line in lines]


def buckets_in(out: Path) -> list[dict[str, Any]]:
    """Return the buckets of the function that is changed."""
    return [b for b in lines_of(out / "buckets.jsonl") if b["api"] == "model.py:windows"]


@pytest.mark.slow
def test_a_changed_function_comes_first_in_the_plan_and_its_failure_is_found(
    tmp_path: Path,
) -> None:
    settings = SETTINGS.format(targets=json.dumps(PLANTED), most=MAX_CASES)
    base = project(tmp_path, ciguard__toml=settings)
    first = answer(command("run"), tmp_path)
    commit(tmp_path, model__py=WRONG)

    unplanned = answer(command("run", "--compare-only"), tmp_path)
    found_without = buckets_in(tmp_path / "out")
    planned = answer(command("plan", "--against", base), tmp_path)
    (row,) = commands_in(planned.stdout)
    done = answer(command(*row), tmp_path)

    assert first.returncode == 0, first.stdout + first.stderr
    assert (unplanned.returncode, found_without) == (0, []), unplanned.stdout + unplanned.stderr
    plan = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    assert plan["focus"] == ["model.py:*"]
    assert "Level function starts with files that the change reaches: model.py." in planned.stdout
    assert done.returncode == 1, done.stdout + done.stderr
    (bucket,) = buckets_in(tmp_path / "out")
    assert (bucket["oracle"], bucket["kind"], bucket["confirmed"]) == (
        "function",
        "exception",
        True,
    )
    assert "model.py, line 10" in bucket["message"]


@pytest.mark.slow
def test_the_action_calls_the_functions_that_a_pull_request_changes(
    runner: Runner, tmp_path: Path
) -> None:
    runner.variables = {"CIGUARD_MAX_CASES": str(MAX_CASES)}
    base = project(runner.workspace)
    origin(runner, tmp_path)
    of_main = ("schedule", "refs/heads/main")
    of_pull_request = (runner.event_name, runner.ref)
    inputs = {**INPUTS, "baseline": "", "targets": BEFORE, "levels": "function"}
    inputs |= {"functions": "a*.py\nmodel.py", "budget": "60s"}

    runner.event_name, runner.ref = of_main
    runner.event = {"repository": {"default_branch": "main", "full_name": "owner/name"}}
    of_base = runner.run(inputs)
    head = commit(runner.workspace, model__py=WRONG)
    runner.event_name, runner.ref = of_pull_request
    runner.event = event(base, head)
    job = runner.run(inputs)

    assert of_base.outputs["verdict"] == "baseline-established", of_base.log
    kept = job.artifacts["ciguard-1"]
    assert json.loads((kept / "plan.json").read_text("utf-8"))["focus"] == ["model.py:*"]
    assert (job.conclusion, job.outputs["verdict"]) == ("failure", "new-findings"), job.log
    assert job.outputs["new"] == "1"
    assert "model.py:windows" in job.summary
    (bucket,) = buckets_in(kept)
    assert bucket["confirmed"]


@pytest.mark.slow
def test_the_action_names_the_input_of_a_missing_program(runner: Runner) -> None:
    base = project(runner.workspace)
    runner.event = event(base, commit(runner.workspace, model__py=WRONG))

    job = runner.run({**INPUTS, "targets": BEFORE, "levels": "function", "functions": "none.py"})

    assert job.conclusion == "failure"
    assert "functions: 'none.py': there is no file" in job.log
