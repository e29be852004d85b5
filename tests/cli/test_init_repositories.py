"""What `ciguard init` writes for repositories of many kinds, under every checker of workflows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from action_file import parsed
from command_server import answer
from git_examples import git
from workflow_checkers import actionlint, language_service, schema, zizmor

from ciguard.actions.checkup import Health, examine_workflows, read_workflows
from ciguard.project import CiguardProject

if TYPE_CHECKING:
    from pathlib import Path

ACTION = "owner/ciguard@0123456789abcdef0123456789abcdef01234567"
GPU = "on: push\njobs:\n  test:\n    runs-on: [self-hosted, gpu-t4]\n"
LOCK = 'version = 1\n[[package]]\nname = "torch"\nversion = "2.13.0"\n'


@dataclass(frozen=True)
class Kind:
    """A repository before init, and what is expected of the files."""

    files: dict[str, str] = field(default_factory=dict)
    branch: str = "main"
    remote: str = "https://github.com/somebody/project.git"
    targets: str = ""
    """That its settings, or the note in them, name."""
    configuration: str = "ciguard.toml"
    builds: bool = False
    gpu: str = ""


KINDS = {
    "plain": Kind({"README.md": "nothing\n"}),
    "requirements": Kind({"requirements.txt": "torch==2.13.0\n"}, targets="torch==2.13.0"),
    "tensorflow": Kind(
        {"requirements.txt": "tensorflow-cpu==2.21.0\n"}, targets="tensorflow-cpu==2.21.0"
    ),
    "keras": Kind({"requirements.txt": "keras==3.15.1\njax==0.10.2\n"}, targets="keras==3.15.1"),
    "pyproject": Kind(
        {"pyproject.toml": '[project]\nname = "a"\ndependencies = ["torch==2.13.0"]\n'},
        targets="torch==2.13.0",
    ),
    "lock": Kind(
        {
            "pyproject.toml": '[project]\nname = "a"\ndependencies = ["torch>=2"]\n',
            "uv.lock": LOCK,
        },
        targets="torch==2.13.0",
    ),
    "library": Kind({"pyproject.toml": '[project]\nname = "torch"\nversion = "2"\n'}, builds=True),
    "gpu": Kind(
        {"requirements.txt": "torch==2.13.0\n", ".github/workflows/test.yml": GPU}, gpu="gpu-t4"
    ),
    "monorepo": Kind(
        {
            "services/a/requirements.txt": "torch==2.13.0\n",
            "services/b/requirements.txt": "tensorflow-cpu==2.21.0\n",
            "pyproject.toml": '[tool.ciguard]\nbudget = "9m"\n',
        },
        configuration="pyproject.toml",
    ),
    "private-index": Kind(
        {"requirements.txt": "--index-url https://pypi.internal.invalid/simple\ntorch==2.13.0\n"},
        remote="",
        targets="torch==2.13.0",
    ),
    "trunk": Kind({"requirements.txt": "torch==2.13.0\n"}, branch="trunk"),
    "slash": Kind({"requirements.txt": "torch==2.13.0\n"}, branch="release/2.x"),
}


def _made(folder: Path, kind: Kind) -> Path:
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", kind.branch)
    for name, text in kind.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    git(folder, "add", "--all")
    if kind.remote:
        git(folder, "remote", "add", "origin", kind.remote)
    done = answer("init", "--action", ACTION, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a repository of every kind, in which init has run."""
    folder = tmp_path_factory.mktemp("kinds")
    return {name: _made(folder / name, kind) for name, kind in KINDS.items()}


def _workflows(folder: Path) -> list[Path]:
    return sorted((folder / ".github" / "workflows").glob("ciguard*.yml"))


def test_workflows_of_every_kind_of_repository_pass_all_checkers(
    repositories: dict[str, Path],
) -> None:
    written = [path for folder in repositories.values() for path in _workflows(folder)]

    assert len(written) == 3 * len(KINDS)
    for done in (zizmor(*written), language_service(*written), *map(schema, written)):
        assert done.returncode == 0, done.stdout + done.stderr
    assert actionlint(*written) == []


@pytest.mark.parametrize("name", KINDS)
def test_init_writes_files_for_the_kind_of_repository(
    repositories: dict[str, Path], name: str
) -> None:
    kind, folder = KINDS[name], repositories[name]
    guard, nightly = (
        parsed(folder / ".github" / "workflows" / file)
        for file in ("ciguard.yml", "ciguard-nightly.yml")
    )
    given: dict[str, Any] = guard["jobs"]["ciguard"]["with"]

    assert kind.targets in (folder / kind.configuration).read_text("utf-8")
    assert (folder / "ciguard.toml").exists() == (kind.configuration == "ciguard.toml")
    assert ("wheels" in guard["jobs"]) == kind.builds
    assert given.get("gpu-runner", "") == kind.gpu
    assert nightly["on"]["push"]["branches"] == [kind.branch]


@pytest.mark.parametrize("name", KINDS)
def test_required_check_is_reported_for_pull_requests_and_merge_queues(
    repositories: dict[str, Path], name: str
) -> None:
    path = repositories[name] / ".github" / "workflows" / "ciguard.yml"
    guard = parsed(path)

    assert set(guard["on"]) == {"pull_request", "merge_group"}
    assert guard["on"]["pull_request"] in ("", None)  # no filter of paths: a skipped check hangs
    assert guard["jobs"]["ciguard"]["name"] == "ciguard"
    assert "if" not in guard["jobs"]["ciguard"]
    read = read_workflows(repositories[name])
    assert (read.required_check, read.runs_in_merge_queue) == ("ciguard / Verdict", True)
    health = {each.health for each in examine_workflows(read, CiguardProject(commit=ACTION[-40:]))}
    assert health == {Health.OK}
