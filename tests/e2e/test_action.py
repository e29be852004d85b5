"""The packaged action, its steps executed as a runner would, on pull requests of several kinds."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from action_scenarios import (
    AFTER,
    ANSWERS,
    BEFORE,
    FEW,
    INPUTS,
    MATRIX,
    ONLY,
    commit,
    event,
    git,
    origin,
    pull_request,
    run_of,
)
from github_markdown import live_parts
from github_repository import NAME
from github_server import TOKEN
from planted_wheel import planted_wheel
from private_index import PASSWORD, PrivateIndex
from runner_protocol import executed_commands

if TYPE_CHECKING:
    from pathlib import Path

    from action_runner import Runner
    from github_server import GitHubServer

HOSTILE = (
    "nan\nverdict=nothing-new\n::set-output name=verdict::nothing-new\n::error::PWNED\n"
    "##[error]PWNED\n@everyone <img onerror=PWNED> ${{ github.token }}\n"
    "verdict<<EOF\nnothing-new\nEOF\n"
)


def test_wheel_with_a_regression_fails_with_the_finding(runner: Runner) -> None:
    pull_request(runner, app__py="import planted\n")
    wheels = runner.workspace / "wheels"
    planted_wheel(wheels / "base", "1.0", checked="return n")
    broken = f"if n > 1000:\n    raise AssertionError({HOSTILE!r})\nreturn n"
    planted_wheel(wheels / "head", "1.1", checked=broken)
    built = {"wheel": "wheels/head/*.whl", "base-wheel": "wheels/base/*.whl"}

    job = runner.run({**INPUTS, **built, "api": "planted.checked"})

    assert job.conclusion == "failure", job.log
    assert (job.outputs["verdict"], job.outputs["exit-code"]) == ("new-findings", "1"), job.log
    assert [s.name for s in job.steps if s.outcome == "failure"] == ["Verdict"]
    assert "planted.checked" in job.summary
    kept = job.artifacts["ciguard-1"]
    assert run_of(kept)["verdict"] == "NEW FINDINGS"
    for name in ("summary.md", "junit.xml", "findings.jsonl", "buckets.jsonl", "plan.json"):
        assert (kept / name).is_file(), name
    # What the library said is there, and commanded nothing.
    assert "PWNED" in (kept / "findings.jsonl").read_text("utf-8")
    assert {name for name, _ in executed_commands(job.log)} <= ANSWERS
    assert not [text for _, text in executed_commands(job.log) if text.startswith("PWNED")]
    assert "<img" not in live_parts(job.summary)


def test_pull_request_without_a_regression_passes(runner: Runner) -> None:
    pull_request(runner, app__py="import planted\n")

    job = runner.run({**INPUTS, "targets": AFTER, "base": BEFORE, "api": "planted.double"})

    assert (job.conclusion, job.outputs["verdict"]) == ("success", "nothing-new"), job.log
    assert (job.outputs["new"], job.outputs["exit-code"]) == ("0", "0")
    assert run_of(job.artifacts["ciguard-1"])["exit_code"] == 0
    assert not (runner.workspace / ".ciguard" / "baseline").exists()


def test_the_two_lines_of_the_readme_judge_what_checkout_leaves(
    runner: Runner, tmp_path: Path
) -> None:
    """`actions/checkout` takes the merge commit alone, and nothing is said but `uses:`."""
    remote = tmp_path / "remote"
    remote.mkdir()
    git(remote, "init", "--quiet", "--initial-branch", "main")
    git(remote, "config", "uploadpack.allowAnySHA1InWant", "true")
    chosen = {"targets": [AFTER], "api": ["planted.cube"], "seed": 1}
    settings = "".join(f"{name} = {json.dumps(value)}\n" for name, value in chosen.items())
    start = commit(remote, ciguard__toml=f'{settings}budget = "10s"\n')
    git(remote, "checkout", "--quiet", "-b", "change")
    head = commit(remote, app__py="import planted\n")
    git(remote, "checkout", "--quiet", "--detach", "main")
    base = commit(remote, README__md="meanwhile\n")
    git(remote, "merge", "--quiet", "--no-ff", "--message", "merged", head)
    git(remote, "update-ref", "refs/pull/7/merge", "HEAD")
    workspace = runner.workspace
    git(workspace, "init", "--quiet")
    git(workspace, "remote", "add", "origin", remote.as_uri())
    git(workspace, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", "refs/pull/7/merge")
    git(workspace, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    runner.event = event(base, head)

    job = runner.run({"plugins": INPUTS["plugins"]})

    assert git(remote, "merge-base", base, head) == start
    assert (job.conclusion, job.outputs["verdict"]) == ("success", "no-baseline"), job.log
    assert "There is no baseline yet to compare with" in job.summary


def test_documentation_pull_request_reports_nothing_to_test(runner: Runner) -> None:
    pull_request(runner, README__md="words\n")

    job = runner.run({**INPUTS, "targets": AFTER, "base": BEFORE})

    assert (job.conclusion, job.outputs["verdict"]) == ("success", "nothing-to-test"), job.log
    assert "only documentation changes" in job.summary
    assert ("notice", "Nothing to test.") in [(n, t[:16]) for n, t in executed_commands(job.log)]


@pytest.mark.slow
def test_missing_baseline_is_reported(runner: Runner) -> None:
    pull_request(runner, app__py="import planted\n")

    job = runner.run({**INPUTS, "targets": BEFORE, "api": "planted.checked"})

    assert (job.conclusion, job.outputs["verdict"]) == ("success", "no-baseline"), job.log
    assert "There is no baseline yet to compare with" in job.summary
    assert not (runner.workspace / ".ciguard" / "baseline").exists()


def test_no_step_that_fuzzes_sees_a_token_and_no_message_is_a_command(runner: Runner) -> None:
    pull_request(runner, app__py="import planted\n", from_fork=True)

    job = runner.run({**INPUTS, "targets": BEFORE, "api": "planted.checked,*.odd.*"})

    for step in job.steps:
        if step.name != "Compare with the baseline":
            assert runner.token not in step.environment.values()
    assert {name for name, _ in executed_commands(job.log)} <= ANSWERS
    assert runner.token not in job.log + job.summary
    assert not [p for p in (runner.temp).glob("request-*.json") if runner.token in p.read_text()]


def test_invalid_input_fails_the_job_with_its_name(runner: Runner) -> None:
    pull_request(runner, app__py="import planted\n")

    job = runner.run({**INPUTS, "budget": "10q\n::set-output name=verdict::nothing-new"})

    (error,) = [text for name, text in executed_commands(job.log) if name == "error"]
    assert error.startswith("input 'budget' = ")
    assert (job.conclusion, job.outputs["verdict"]) == ("failure", "not-run")
    assert job.outputs["exit-code"] == "2"
    assert "# ciguard: not-run" in job.summary
    assert "input 'budget'" in job.summary
    assert job.step("Fuzz").outcome == "skipped"


def test_failed_step_is_reported_in_summary_and_exit_code(runner: Runner) -> None:
    pull_request(runner, app__py="import planted\n")

    job = runner.run({**INPUTS, "wheel": "wheels/*.whl"})

    assert (job.conclusion, job.outputs["verdict"]) == ("failure", "not-run"), job.log
    assert job.outputs["exit-code"] == "2"
    assert "there is no such file in" in job.summary
    assert "run.json" not in job.summary


@pytest.mark.slow
def test_cancelled_job_reports_interrupted(runner: Runner) -> None:
    pull_request(runner, app__py="import planted\n")
    journals = runner.workspace / ".ciguard"
    runner.variables = {}

    job = runner.run(
        {**INPUTS, "budget": "100s", "targets": AFTER, "base": BEFORE},
        cancel_when=lambda: any(journals.rglob("journal.jsonl")),
    )

    assert job.conclusion == "cancelled"
    assert job.outputs["verdict"] in {"interrupted", "not-run"}
    assert job.outputs["exit-code"] not in {"", "0", "1"}
    assert job.artifacts["ciguard-1"].joinpath("run.json").is_file(), job.log
    assert job.step("Fuzz").seconds < 60


@pytest.mark.slow
def test_the_default_branch_keeps_a_baseline_on_a_branch(runner: Runner, tmp_path: Path) -> None:
    git(runner.workspace, "init", "--quiet", "--initial-branch", "main")
    commit(runner.workspace, README="first\n")
    remote = origin(runner, tmp_path)
    runner.event_name, runner.ref = "schedule", "refs/heads/main"
    runner.event = {"repository": {"default_branch": "main", "full_name": "owner/name"}}
    inputs = {**INPUTS, "baseline": "", "targets": BEFORE, "api": "planted.checked"}

    first, second = runner.run(inputs), runner.run(inputs)

    assert first.outputs["verdict"] == "baseline-established", first.log
    assert (second.outputs["verdict"], second.outputs["known"]) == ("nothing-new", "1"), second.log
    assert "ciguard-baseline" in git(remote, "branch", "--list")


@pytest.mark.slow
def test_matrix_has_one_verdict_and_names_missing_rows(runner: Runner) -> None:
    pull_request(runner, app__py="import planted\n")
    planned = runner.run({**INPUTS, **MATRIX, "task": "plan", "shards": "2", "artifact": "plan"})
    plan = planned.artifacts["plan-1"] / "plan.json"
    rows = json.loads(planned.outputs["matrix"])["include"]
    results = runner.folder / "results"
    for row in rows:
        name = row["name"]
        job = runner.run(
            {**INPUTS, **ONLY, "task": "shard", "plan": str(plan), "job": name, "artifact": name}
        )
        shutil.copytree(job.artifacts[f"{name}-1"], results / name)
    merging = {**INPUTS, "task": "merge", "plan": str(plan), "results": str(results)}

    whole = runner.run(merging)
    shutil.rmtree(results / rows[1]["name"])
    part = runner.run(merging)
    shutil.rmtree(results)
    nothing = runner.run(merging)

    assert (planned.outputs["job-count"], len(rows)) == ("2", 2)
    assert (whole.conclusion, whole.outputs["verdict"]) == ("failure", "new-findings"), whole.log
    assert (part.conclusion, part.outputs["exit-code"]) == ("failure", "3"), part.log
    assert rows[1]["shard"] in part.summary
    assert (nothing.conclusion, nothing.outputs["verdict"]) == ("failure", "not-run"), nothing.log
    assert "it has no result" in nothing.summary


@pytest.mark.slow
@pytest.mark.parametrize("with_plan", [True, False])
@pytest.mark.parametrize("event_name", ["pull_request", "schedule"])
def test_filing_job_treats_hostile_artifacts_as_data(
    runner: Runner, event_name: str, *, with_plan: bool
) -> None:
    git(runner.workspace, "init", "--quiet", "--initial-branch", "main")
    commit(runner.workspace, README="first\n")
    runner.event_name, runner.ref = "workflow_run", "refs/heads/main"
    ran = {"event": event_name, "head_branch": "main", "head_repository": {"full_name": "evil/x"}}
    repository = {"default_branch": "main", "full_name": "owner/name"}
    runner.event = {"repository": repository, "workflow_run": ran}
    results = runner.folder / "results"
    hostile = (b"", b"\0" * 64, b'{"schema": 1}\n' * 3, b"[" * 100_000, HOSTILE.encode())
    names = ("run.json", "parts.jsonl", "buckets.jsonl", "findings.jsonl", "documentation.jsonl")
    for number, content in enumerate(hostile):
        folder = results / f"ciguard-job-{number}"
        folder.mkdir(parents=True)
        for name in (*names, "plan.json") if with_plan else names:
            (folder / name).write_bytes(content)
        (folder / "reproducers").symlink_to("/etc")

    job = runner.run({**INPUTS, "task": "file", "results": str(results), "file-issues": "true"})

    # A fork, which anybody may have, turns no job of the default branch red.
    assert (job.conclusion, job.outputs["verdict"]) == ("success", "not-run"), job.log
    assert job.outputs["exit-code"] == "3"
    assert {name for name, _ in executed_commands(job.log)} <= ANSWERS
    assert "PWNED" not in "".join(text for _, text in executed_commands(job.log))
    assert not (runner.workspace / ".ciguard" / "baseline").exists()


@pytest.mark.lengthy
@pytest.mark.slow
def test_environments_are_kept_by_the_default_branch_only(runner: Runner, tmp_path: Path) -> None:
    for version in ("1.0", "1.1"):
        planted_wheel(tmp_path / "wheels", version, checked="return n")
    links = [os.environ.get("UV_FIND_LINKS", ""), str(tmp_path / "wheels")]
    runner.variables = {
        **FEW,
        "CIGUARD_CACHE": str(tmp_path / "cache"),
        "UV_FIND_LINKS": ",".join(filter(None, links)),
    }
    inputs = {**INPUTS, "api": "planted.double", "budget": "5s"}
    pull_request(runner, app__py="import planted\n")
    of_pull_request, runner.event_name, runner.ref = "pull_request", "push", "refs/heads/main"

    runner.run({**inputs, "targets": "ciguard-planted==1.0"})
    saved = list(runner.caches.iterdir())
    runner.event_name, runner.ref = of_pull_request, "refs/pull/7/merge"
    shutil.rmtree(tmp_path / "cache")
    restored = runner.run({**inputs, "targets": "ciguard-planted==1.0"})
    runner.run({**inputs, "targets": "ciguard-planted==1.1"})

    assert len(saved) == 1
    assert restored.step("Restore environments of targets").outputs["cache-hit"] == "true"
    assert restored.step("Build environments of targets").log.count("\n") <= 3
    assert list(runner.caches.iterdir()) == saved


@pytest.mark.lengthy
@pytest.mark.slow
def test_a_private_index_is_known_to_the_step_that_builds_and_to_no_other(
    runner: Runner, tmp_path: Path
) -> None:
    planted_wheel(tmp_path / "wheels", "1.7", checked="return n")
    runner.variables = {**FEW, "CIGUARD_CACHE": str(tmp_path / "cache")}
    pull_request(runner, app__py="import planted\n")
    inputs = {**INPUTS, "api": "planted.double", "targets": "ciguard-planted==1.7"}

    without = runner.run({**inputs, "out": "without"})
    with PrivateIndex("ciguard-planted", tmp_path / "wheels") as index:
        job = runner.run({**inputs, "index-url": index.url})
        served = list(index.served)

    assert without.outputs["verdict"] == "not-run", without.log
    assert job.outputs["verdict"] == "no-baseline", job.log
    assert any(path.endswith(".whl") for path in served)
    knowing = {s.name for s in job.steps if PASSWORD in "".join(s.environment.values())}
    assert knowing == {"Build environments of targets"}
    assert PASSWORD not in job.log + job.summary
    kept = [p for p in tmp_path.rglob("*") if p.is_file() and not p.is_symlink()]
    assert not [p for p in kept if PASSWORD.encode() in p.read_bytes()]


@pytest.mark.lengthy
@pytest.mark.slow
def test_scheduled_batch_files_issues(runner: Runner, server: GitHubServer) -> None:
    git(runner.workspace, "init", "--quiet", "--initial-branch", "main")
    commit(runner.workspace, README="first\n")
    runner.event_name, runner.ref, runner.token = "schedule", "refs/heads/main", TOKEN
    runner.event = {"repository": {"default_branch": "main", "full_name": NAME}}
    runner.variables = {**FEW, "GITHUB_API_URL": server.address(), "GITHUB_REPOSITORY": NAME}
    inputs = {**INPUTS, "targets": BEFORE, "file-issues": "true"}

    runner.run({**inputs, "api": "planted.double"})
    job = runner.run({**inputs, "api": "planted.checked"})

    assert job.outputs["verdict"] == "new-findings", job.log
    (issue,) = server.repository.issues.values()
    assert issue.latest["title"].startswith("planted.checked: ")
    assert TOKEN not in job.log + job.summary
    kept = job.artifacts["ciguard-1"]
    assert not [p for p in kept.rglob("*") if p.is_file() and TOKEN.encode() in p.read_bytes()]


@pytest.mark.lengthy
@pytest.mark.slow
@pytest.mark.library("tensorflow")
def test_upgrade_of_a_library_is_tested_on_the_used_apis(runner: Runner, tmp_path: Path) -> None:
    git(runner.workspace, "init", "--quiet", "--initial-branch", "main")
    source = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.nn.relu(tf.cumsum(x))\n"
    base = commit(runner.workspace, requirements__txt="tensorflow-cpu==2.12.0\n", model__py=source)
    head = commit(runner.workspace, requirements__txt="tensorflow-cpu==2.21.0\n")
    origin(runner, tmp_path)
    runner.event = event(base, head)

    runner.variables = {}

    job = runner.run({"budget": "30s", "artifact": "upgrade", "cache": "false"})

    kept = job.artifacts["upgrade-1"]
    plan = json.loads((kept / "plan.json").read_text("utf-8"))
    (change,) = plan["changes"]
    assert (change["base"], change["head"]) == ("2.12.0", "2.21.0")
    (row,) = plan["jobs"]
    assert (row["base"], row["targets"]) == (
        ["tensorflow-cpu==2.12.0"],
        ["tensorflow-cpu==2.21.0"],
    )
    assert {"tensorflow.nn.relu", "tensorflow.cumsum"} <= set(plan["focus"])
    assert job.outputs["verdict"] in {"nothing-new", "new-findings"}, job.log
    ran = {target["name"]: target["cases"] for target in run_of(kept)["targets"]}
    assert ran.keys() == {"tensorflow-cpu==2.12.0", "tensorflow-cpu==2.21.0"}
    assert min(ran.values()) > 0
