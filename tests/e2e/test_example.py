"""The life of `examples/upgrade-guard` on the emulated GitHub, from `ciguard init` on."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from action_scenarios import git
from example_project import (
    EXAMPLE,
    WRITTEN,
    adopted,
    established,
    example_files,
    hosted,
    initialised,
    planted_example,
    requiring,
)
from hosted_project import FORK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from github_repository import Stored
    from github_server import GitHubServer
    from hosted_project import HostedProject, HostedRun
    from node_tools import Expressions

    from ciguard.targets import Environment

UPDATE = "UPDATE_SNAPSHOTS"
_ADDRESS = re.compile(r"[\w.-]+/ciguard(/[^@\s]+)?@[0-9a-f]{40}")
MARKER = "ciguard-fp: g1:"
"""Of a cause: a failed check names it."""
REQUIRED = "ciguard / Verdict"


@pytest.fixture
def project(
    tmp_path: Path, ciguard: Path, server: GitHubServer, expressions: Expressions
) -> HostedProject:
    """Return the example on the planted library, hosted; nothing in it is ciguard's yet."""
    folder = planted_example(tmp_path / "project")
    return hosted(folder, ciguard, server, expressions)


def test_the_committed_workflows_are_what_init_writes(tmp_path: Path, ciguard: Path) -> None:
    folder = example_files(tmp_path / "upgrade-guard")

    initialised(folder, ciguard)

    for name in WRITTEN:
        text = (folder / name).read_text("utf-8")
        shown = _ADDRESS.sub(r"OWNER/ciguard\1@COMMIT", text)
        if os.environ.get(UPDATE):
            (EXAMPLE / name).parent.mkdir(parents=True, exist_ok=True)
            (EXAMPLE / name).write_text(shown, "utf-8")
        assert shown == (EXAMPLE / name).read_text("utf-8"), f"write it with {UPDATE}=1"


def upgraded(project: HostedProject, version: str) -> None:
    """Merge a pull request that requires another release; what its checks say is ignored."""
    project.merged(project.opened(**requiring(project.folder, version)))


def issues_of(project: HostedProject, api: str) -> list[Stored]:
    stored = project.server.repository.issues.values()
    return [issue for issue in stored if issue.latest["title"].startswith(f"{api}: ")]


def follow_ups(run: HostedRun) -> dict[str, str]:
    (follower,) = run.followers
    return follower.checks


@pytest.mark.lengthy
@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_pull_requests_of_all_kinds_have_their_verdict(
    project: HostedProject, ciguard: Path
) -> None:
    adopted(project, ciguard)
    sound = project.opened(repository=FORK, **requiring(project.folder, "1.1"))
    from_fork = project.judged(sound)
    upgrade = project.opened(**requiring(project.folder, "2.0"))
    superseded = project.judged(upgrade, superseded=True)
    untouched = len(project.server.checks.runs)
    red = project.judged(upgrade)
    queued = project.queued(upgrade)

    assert (from_fork.conclusion, from_fork.outputs["verdict"]) == ("success", "nothing-new")
    assert (superseded.conclusion, untouched) == ("cancelled", 1)
    assert set(follow_ups(superseded).values()) == {"skipped"}
    assert (red.checks[REQUIRED], red.outputs["verdict"]) == ("failure", "new-findings"), red.log
    assert red.outputs["new"] == "1"
    assert (queued.checks[REQUIRED], queued.outputs["verdict"]) == ("failure", "new-findings")
    for run in (from_fork, red, queued):
        assert "failure" not in follow_ups(run).values(), run.log
    green, published, *_ = project.server.checks.runs
    assert (green["head_sha"], green["conclusion"]) == (sound.head, "success")
    assert (published["head_sha"], published["conclusion"]) == (upgrade.head, "failure")
    (annotation,) = project.server.checks.annotations[published["id"]]
    assert (annotation["path"], annotation["start_line"]) == ("requirements.txt", 2)
    assert annotation["annotation_level"] == "failure"
    (comment,) = project.server.repository.issues[upgrade.number].comments
    assert "planted.checked" in comment["body"]
    assert issues_of(project, "planted.checked") == []


@pytest.mark.lengthy
@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_a_regression_has_one_issue_from_its_merge_to_its_return(
    project: HostedProject, ciguard: Path
) -> None:
    night = established(project, ciguard)
    upgraded(project, "2.0")
    broken = project.night()
    (issue,) = issues_of(project, "planted.checked")
    opened = issue.latest["state"]
    upgraded(project, "2.0.1")
    mended = [project.night() for _ in range(3)]
    closed, evidence = dict(issue.latest), [comment["body"] for comment in issue.comments]
    upgraded(project, "2.0.2")
    returned = project.night()
    reopened, said = issue.latest["state"], len(issue.comments)
    project.server.repository.locked.add(issue.number)
    upgraded(project, "2.1")
    worse = project.night()

    assert night.conclusion == "success", night.log
    assert "ciguard-baseline" in git(project.folder, "branch", "--list")
    assert (broken.conclusion, broken.outputs["new"], opened) == ("failure", "1", "open")
    assert MARKER in issue.latest["body"]
    assert {run.conclusion for run in mended} == {"success"}
    assert (closed["state"], closed["state_reason"]) == ("closed", "completed")
    assert "ciguard-planted==2.0.1" in evidence[-1]
    assert (returned.outputs["verdict"], reopened) == ("new-findings", "open")
    assert len(issue.comments) == said
    _, another = issues_of(project, "planted.checked")
    assert another.latest["state"] == "open"
    for run in (broken, *mended, returned, worse):
        assert "failure" not in follow_ups(run).values(), run.log


@pytest.mark.lengthy
@pytest.mark.slow
@pytest.mark.library("torch")
@pytest.mark.timeout(2400)
def test_the_example_itself_is_guarded_on_torch(
    tmp_path: Path, ciguard: Path, server: GitHubServer, expressions: Expressions
) -> None:
    folder = example_files(tmp_path / "project")
    git(folder, "commit", "--quiet", "--message", "the project")
    initialised(folder, ciguard)
    project = hosted(folder, ciguard, server, expressions)
    project.inputs = {"guard.yml": {"budget": "15s"}}
    files = {name: (folder / name).read_text("utf-8") for name in WRITTEN}
    night = project.push(**files) or project.night()
    source = (folder / "src" / "tones" / "features.py").read_text("utf-8")
    change = f"{source}\n\ndef loudest(recording):\n    return torch.amax(torch.abs(recording))\n"

    asked = project.opened(**{"src/tones/features.py": change})
    judged = project.judged(asked)

    assert night.conclusion == "success", night.log
    assert "ciguard-baseline" in git(folder, "branch", "--list")
    assert judged.outputs["verdict"] in {"nothing-new", "new-findings"}, judged.log
    assert "torch.amax" in judged.log
    (check,) = server.checks.runs
    assert (check["head_sha"], check["conclusion"]) == (asked.head, judged.conclusion)


@pytest.mark.slow
@pytest.mark.library("torch")
def test_the_example_passes_its_own_tests(
    tmp_path: Path, environment_of: Callable[[str], Environment]
) -> None:
    folder = example_files(tmp_path / "project")
    (requirement,) = re.findall(
        r"^torch==.*$", (folder / "requirements.txt").read_text("utf-8"), re.MULTILINE
    )
    python = environment_of(f"{requirement} + pytest").python

    done = subprocess.run(
        [python, "-m", "pytest", "-q"], cwd=folder, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
