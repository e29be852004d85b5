"""The life of `examples/upgrade-guard` on the emulated GitHub, from `ciguard init` on."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from example_project import (
    EXAMPLE,
    WRITTEN,
    example_files,
    few_cases,
    hosted,
    initialised,
    planted_example,
    requiring,
)
from hosted_project import FORK

if TYPE_CHECKING:
    from pathlib import Path

    from github_server import GitHubServer
    from hosted_project import HostedProject, HostedRun
    from node_tools import Expressions

UPDATE = "UPDATE_SNAPSHOTS"
_ADDRESS = re.compile(r"[\w.-]+/ciguard(/[^@\s]+)?@[0-9a-f]{40}")
MARKER = "v1:"


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


def established(project: HostedProject, ciguard: Path) -> HostedRun:
    """Adopt ciguard, and return the run that established the baseline."""
    initialised(project.folder, ciguard)
    few_cases(project.folder)
    files = {name: (project.folder / name).read_text("utf-8") for name in WRITTEN}
    return project.push(**files) or project.night()


@pytest.mark.slow
def test_first(project: HostedProject, ciguard: Path) -> None:
    import time
    t = time.time()
    run = established(project, ciguard)
    print(run.checks, run.conclusion, run.outputs, time.time() - t)
    t = time.time()
    print([f.checks for f in run.followers])
    asked = project.opened(**requiring(project.folder, "2.0"))
    judged = project.judged(asked)
    print(judged.checks, judged.outputs, [f.checks for f in judged.followers])
    print(time.time() - t)
    print(project.server.checks.runs, project.server.checks.annotations)
    print([(n, i.latest, i.comments) for n, i in project.server.repository.issues.items()])
    for name, jobs in next(iter(judged.calls.values())).jobs.items():
        for j in jobs.values():
            print(name, [(s.name, round(s.seconds, 1)) for s in j.steps])
    assert 0, judged.log[-6000:]
