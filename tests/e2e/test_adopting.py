"""`docs/adopting.md`, followed word by word on the emulated GitHub.

Its commands are run by bash, its YAML and TOML go into the files that they name. Only names are
replaced: OWNER and COMMIT by this checkout's, torch by the planted library.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from action_file import ROOT, parsed
from action_scenarios import git
from example_project import EXAMPLE, WRITTEN, few_cases, hosted, planted_example
from hosted_project import OURS
from surroundings import PROGRAMS

if TYPE_CHECKING:
    from github_server import GitHubServer
    from hosted_project import HostedProject, HostedRun
    from node_tools import Expressions

PAGE = ROOT / "docs" / "adopting.md"
GH = '#!/usr/bin/env bash\nprintf "%s\\n" "$*" >> "$GH_LOG"\n'
"""Stands for GitHub's command line, which needs an account: it notes what it was asked."""
_SECTION = re.compile(r"^## (\d)\. ", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Reader:
    """Somebody who does in a clone what the page says."""

    folder: Path
    environment: dict[str, str]
    names: dict[str, str]
    """What stands for what in the page's text."""

    def follow(self, section: int) -> None:
        """Do all that a section shows, in its order."""
        text = PAGE.read_text("utf-8")
        for written, meant in self.names.items():
            text = text.replace(written, meant)
        for kind, block in _BLOCK.findall(_SECTION.split(text)[2 * section]):
            match kind:
                case "console":
                    self._run(block)
                case "yaml" | "toml":
                    self._write(block)
                case _:  # to be read only
                    continue

    def _run(self, block: str) -> None:
        for line in block.splitlines():
            done = subprocess.run(
                ["bash", "-e", "-c", line.removeprefix("$ ")],  # noqa: S607 - the tests' own
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                encoding="utf-8",
                check=False,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            if " init " in line:
                few_cases(self.folder)

    def _write(self, block: str) -> None:
        """Put lines into the file that the first one names: at their places, or at the end."""
        first, _, lines = block.partition("\n")
        path = self.folder / first.removeprefix("# ")
        before = path.read_text("utf-8")
        if path.suffix == ".toml":
            path.write_text(f"{before}\n{lines}", "utf-8")
            return
        merged = _merged(*(yaml.load(text, yaml.BaseLoader) for text in (before, lines)))  # noqa: S506 - knows texts only
        path.write_text(yaml.safe_dump(merged, sort_keys=False), "utf-8")


def _merged(before: Any, added: Any) -> Any:
    if not isinstance(before, dict):
        return added
    return before | {key: _merged(before.get(key), value) for key, value in added.items()}


@pytest.fixture
def project(
    tmp_path: Path, ciguard: Path, server: GitHubServer, expressions: Expressions
) -> HostedProject:
    folder = planted_example(tmp_path / "project")
    return hosted(folder, ciguard, server, expressions)


@pytest.fixture
def reader(tmp_path: Path, ciguard: Path, project: HostedProject) -> Reader:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "gh").write_text(GH, "utf-8")
    (tools / "gh").chmod(0o755)
    git(project.folder, "clone", "--quiet", project.folder.as_uri(), str(tmp_path / "clone"))
    settings = {
        f"url.{ciguard.as_uri()}.insteadOf": f"https://github.com/{OURS}",
        "user.name": "somebody",
        "user.email": "somebody@invalid",
    }
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        "PATH": f"{tools}:{Path(sys.executable).parent}:{PROGRAMS}",
        "UV_TOOL_BIN_DIR": str(tools),
        "GH_LOG": str(tmp_path / "gh.log"),
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (key, value) in enumerate(settings.items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    names = {
        "OWNER/ciguard": OURS,
        "COMMIT": git(ciguard, "rev-parse", "HEAD"),
        "uv tool install": f"uv tool install --with {ROOT / 'tests' / 'planted'}",
        "torch==2.12.0": "ciguard-planted==1.0",
        "torch==2.13.0": "ciguard-planted==2.0",
    }
    return Reader(tmp_path / "clone", environment, names)


def required_check() -> str:
    text = _SECTION.split(PAGE.read_text("utf-8"))[10]
    (block,) = [block for kind, block in _BLOCK.findall(text) if kind == "text"]
    return str(block).strip()


def first_run(reader: Reader, project: HostedProject) -> HostedRun:
    """Adopt ciguard as the first two sections say; return what their pull request started."""
    reader.follow(1)
    reader.follow(2)
    asked = project.offered("ciguard")
    run = project.judged(asked)
    project.merged(asked)
    return run


def test_the_check_to_require_is_the_one_that_guard_reports() -> None:
    caller = parsed(EXAMPLE / ".github" / "workflows" / "ciguard.yml")["jobs"]["ciguard"]
    called = parsed(ROOT / ".github" / "workflows" / "guard.yml")["jobs"]["merge"]

    assert required_check() == f"{caller['name']} / {called['name']}"


def test_every_file_and_command_that_the_page_names_exists() -> None:
    blocks = _BLOCK.findall(PAGE.read_text("utf-8"))
    lines = [line for kind, block in blocks if kind == "console" for line in block.splitlines()]
    named = {block.partition("\n")[0] for kind, block in blocks if kind in {"yaml", "toml"}}

    assert {line[:2] for line in lines} == {"$ "}
    assert named <= {f"# {name}" for name in WRITTEN}


@pytest.mark.lengthy
@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_steps_of_the_adopting_page_work_until_removal(
    reader: Reader, project: HostedProject, tmp_path: Path
) -> None:
    begun = first_run(reader, project)
    reader.follow(3)
    upgrade = project.offered("upgrade")
    red = project.judged(upgrade)
    reader.follow(4)
    asked = (tmp_path / "gh.log").read_text("utf-8")
    night = project.night(event="workflow_dispatch")
    stored = git(project.folder, "show", "ciguard-baseline:buckets.jsonl").splitlines()[1:]
    known = json.loads(stored[0])["fingerprint"]
    reader.names["4f0c"] = known.removeprefix("v1:")[:12]
    reader.follow(7)
    accepted = git(project.folder, "show", "ciguard-baseline:buckets.jsonl")
    reader.follow(8)

    assert (begun.conclusion, begun.checks[required_check()]) == ("success", "success"), begun.log
    assert red.checks[required_check()] == "failure", red.log
    assert red.outputs["verdict"] == "new-findings"
    (check,) = [run for run in project.server.checks.runs if run["head_sha"] == upgrade.head]
    places = {one["path"] for one in project.server.checks.annotations[check["id"]]}
    assert places == {"requirements.txt"}
    assert len(project.server.repository.issues[upgrade.number].comments) == 1
    assert asked == "workflow run ciguard-nightly.yml\n"
    assert night.conclusion == "success", night.log
    assert "undefined by design" in accepted
    assert "ciguard-baseline" not in git(project.folder, "branch", "--list")
    project.merged(project.offered("without-ciguard"))
    assert project.push(**{"app.py": "import planted\n"}) is None
    assert not (project.folder / "ciguard.toml").exists()
