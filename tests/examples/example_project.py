"""`examples/upgrade-guard` as its own repository on the emulated GitHub.

For speed the planted library takes the place of torch: its releases are wheels that `planted_wheel`
makes, which uv finds in a folder.
"""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING, Any

from action_file import ROOT
from action_scenarios import git
from command_server import answer
from github_repository import NAME
from hosted_project import OURS, HostedProject
from planted_wheel import planted_wheel
from workflow_runner import GitHub

if TYPE_CHECKING:
    from pathlib import Path

    from github_server import GitHubServer
    from hosted_project import HostedRun
    from node_tools import Expressions

EXAMPLE = ROOT / "examples" / "upgrade-guard"
WRITTEN = (
    "ciguard.toml",
    ".github/workflows/ciguard.yml",
    ".github/workflows/ciguard-nightly.yml",
    ".github/workflows/ciguard-file-issues.yml",
)
"""Files of the example that `ciguard init` writes."""
REQUIREMENT = "ciguard-planted"
_SOUND = "return n"
_ABORTS = "    os.write(2, b'planted/check.cc:{line}] Check failed: {claim}\\n')\n    os.abort()\n"
_BROKEN = (
    "if isinstance(n, int) and n > 1000:\n" + _ABORTS.format(line=42, claim="n <= 1000") + _SOUND
)
_TWICE = "if isinstance(n, int) and n < -1000:\n" + _ABORTS.format(line=57, claim="n >= -1000")
RELEASES = {
    "1.0": _SOUND,
    "1.1": _SOUND,
    "2.0": _BROKEN,
    "2.0.1": _SOUND,
    "2.0.2": _BROKEN,
    "2.1": _TWICE + _BROKEN,
}
"""What `planted.checked` does in each release of the planted library."""
_SETTINGS = """
api = ["planted.checked", "planted.divide", "planted.double"]
seed = 1
max-cases = 640
"""
_SOURCE = '''"""Spectral features of recordings."""

import planted


def doubled(recording):
    """Return a recording at twice its volume."""
    return planted.double(recording)
'''


def example_files(folder: Path) -> Path:
    """Copy the example without what `ciguard init` writes, as a repository of one commit."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    for name in WRITTEN:
        (folder / name).unlink(missing_ok=True)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    return folder


def planted_example(folder: Path) -> Path:
    """Return the example on the planted library; nothing in it is ciguard's yet."""
    example_files(folder)
    for name, pattern, text in (
        ("requirements.txt", r"^torch==.*$", f"{REQUIREMENT}==1.0"),
        ("pyproject.toml", r"torch>=[\d.]+", f"{REQUIREMENT}>=1.0"),
    ):
        before = (folder / name).read_text("utf-8")
        (folder / name).write_text(re.sub(pattern, text, before, flags=re.MULTILINE), "utf-8")
    shutil.rmtree(folder / "tests")
    shutil.rmtree(folder / "src")
    (folder / "src" / "tones").mkdir(parents=True)
    (folder / "src" / "tones" / "features.py").write_text(_SOURCE, "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "the project")
    return folder


def initialised(folder: Path, ciguard: Path) -> str:
    """Run `ciguard init` in a project, and return what it printed."""
    source = f"{OURS}@{git(ciguard, 'rev-parse', 'HEAD')}"
    done = answer("init", "--action", source, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def few_cases(folder: Path) -> None:
    """Let a project on the planted library test little of it, and the same in every run."""
    path = folder / "ciguard.toml"
    path.write_text(path.read_text("utf-8") + _SETTINGS, "utf-8")


def adopted(project: HostedProject, ciguard: Path) -> HostedRun | None:
    """Adopt ciguard on the default branch, and return what that started."""
    initialised(project.folder, ciguard)
    few_cases(project.folder)
    files = {name: (project.folder / name).read_text("utf-8") for name in WRITTEN}
    return project.push(**files)


def established(project: HostedProject, ciguard: Path) -> HostedRun:
    """Adopt ciguard, and return the run that established the baseline."""
    return adopted(project, ciguard) or project.night()


def requiring(folder: Path, version: str) -> dict[str, str]:
    """Return the requirements of a project on the planted library at another version."""
    text = (folder / "requirements.txt").read_text("utf-8")
    changed = re.sub(rf"{REQUIREMENT}==[\d.]+", f"{REQUIREMENT}=={version}", text)
    return {"requirements.txt": changed}


def _index(folder: Path) -> str:
    """Make the releases of the planted library; return where uv is to look for packages."""
    for version, checked in RELEASES.items():
        planted_wheel(folder, version, checked=checked)
    return ",".join(filter(None, (os.environ.get("UV_FIND_LINKS", ""), str(folder))))


def hosted(
    project: Path,
    ciguard: Path,
    server: GitHubServer,
    expressions: Expressions,
) -> HostedProject:
    """Host a project on the planted library, with its runners in folders beside it.

    Args:
        project: its repository.
        ciguard: that of this checkout.
        server: of the project's issues, checks and comments.
        expressions: GitHub's engine.
    """
    github = GitHub(
        folder=project.parent / "runs",
        expressions=expressions,
        repositories={NAME: project, OURS: ciguard},
        workflows_of=OURS,
        commit=git(ciguard, "rev-parse", "HEAD"),
        variables={
            "CIGUARD_CACHE": str(project.parent / "environments"),
            "GITHUB_API_URL": server.address(),
            "UV_FIND_LINKS": _index(project.parent / "wheels"),
        },
    )
    inputs: dict[str, dict[str, Any]] = {
        "guard.yml": {"plugins": str(ROOT / "tests" / "planted")},
    }
    return HostedProject(github, server, project, inputs=inputs)
