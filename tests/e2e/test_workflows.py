"""The reusable workflows, their jobs executed as GitHub would, on events of several kinds."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from action_file import ROOT
from action_runner import Trigger
from action_scenarios import commit, event, git
from planted_wheel import planted_wheel
from runner_protocol import executed_commands
from workflow_runner import GitHub, WorkflowRun

if TYPE_CHECKING:
    from pathlib import Path

    from node_tools import Expressions

GUARD, FILE_ISSUES = (
    ROOT / ".github" / "workflows" / name for name in ("guard.yml", "file-issues.yml")
)
OWNER, OURS = "owner/name", "somebody/ciguard"
SETTINGS = 'api = ["planted.checked"]\nseed = 1\nmax-cases = 320\n'
GIVEN = {"plugins": str(ROOT / "tests" / "planted"), "budget": "10s"}
BUILT = {
    "wheels": "ciguard-wheels",
    "wheel": ".ciguard-wheels/head/*.whl",
    "base_wheel": ".ciguard-wheels/base/*.whl",
}
BROKEN = "if n > 1000:\n    raise AssertionError('planted')\nreturn n"


@pytest.fixture(scope="session")
def ciguard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository whose only commit is what lies in this checkout."""
    folder = tmp_path_factory.mktemp("ciguard")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    names = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "what is tested")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a repository that is guarded."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder, ciguard__toml=SETTINGS, app__py="import planted\n")
    return folder


@pytest.fixture
def github(tmp_path: Path, expressions: Expressions, ciguard: Path, project: Path) -> GitHub:
    return GitHub(
        folder=tmp_path / "runs",
        expressions=expressions,
        repositories={OWNER: project, OURS: ciguard},
        workflows_of=OURS,
        commit=git(ciguard, "rev-parse", "HEAD"),
    )


def opened(project: Path, **files: str) -> Trigger:
    """Open a pull request that changes files; GitHub keeps what it would be once it is merged."""
    base = git(project, "rev-parse", "main")
    git(project, "checkout", "--quiet", "-b", "change")
    head = commit(project, **files)
    git(project, "checkout", "--quiet", "--detach", "main")
    git(project, "merge", "--quiet", "--no-ff", "--message", "merged", "change")
    git(project, "update-ref", "refs/pull/7/merge", "HEAD")
    git(project, "checkout", "--quiet", "main")
    return Trigger(event=event(base, head))


def guarded(github: GitHub, trigger: Trigger, *, number: str = "1", **given: Any) -> WorkflowRun:
    return WorkflowRun(github, GUARD, trigger, number=number, **GIVEN, **given)


def built(run: WorkflowRun) -> None:
    """Leave what a job of the calling workflow would have built."""
    planted_wheel(run.artifacts / "ciguard-wheels" / "base", "1.0", checked="return n")
    planted_wheel(run.artifacts / "ciguard-wheels" / "head", "1.1", checked=BROKEN)


def test_a_pull_request_that_breaks_something_is_one_verdict_of_many_jobs(
    github: GitHub, project: Path
) -> None:
    trigger = opened(project, app__py="import planted  # changed\n")
    run = guarded(github, trigger, shards=2, **BUILT)
    built(run)

    run.start()

    assert len(run.jobs["shard"]) == 2, run.log
    assert {job: run.result(job) for job in run.jobs} == {
        "plan": "success",
        "shard": "success",
        "merge": "failure",
    }, run.log
    assert run.outputs == {"verdict": "new-findings", "new": "1", "not-run": "0"}
    assert "planted.checked" in run.only("merge").summary
