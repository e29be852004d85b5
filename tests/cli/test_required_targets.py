"""Commands without a plan use the targets that a project requires, as a plan does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_server import answer
from git_examples import git

ROOT = Path(__file__).parents[2]
PYPROJECT = """\
[project]
name = "mine"
version = "1"
dependencies = ["keras>=3.10,<4", "torch==2.13.0"]
"""
BOTH = ["keras<4,>=3.10 + torch==2.13.0", "torch==2.13.0"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout that requires keras and torch, and calls both."""
    folder = tmp_path / "my project"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    calls = "import keras\nimport torch\n\nkeras.ops.abs(torch.abs(torch.ones(1)))\n"
    (folder / "model.py").write_text(calls, "utf-8")
    git(folder, "add", "--all")
    return folder


def shown(folder: Path, *words: str) -> tuple[object, object]:
    """Return the targets that `ciguard config` shows, and their source."""
    document = json.loads(answer("config", "--json", *words, folder=folder).stdout)
    return document["settings"]["targets"]["value"], document["settings"]["targets"]["source"]


def test_config_shows_the_targets_that_the_project_requires(project: Path) -> None:
    text = answer("config", folder=project).stdout.splitlines()[0]

    assert shown(project) == (BOTH, "requirements")
    assert text.endswith("requirements")


def test_a_named_target_has_precedence_over_requirements(project: Path) -> None:
    assert shown(project, "--target", "current") == (["current"], "flag")
    (project / "ciguard.toml").write_text('targets = ["jax"]\n', "utf-8")
    assert shown(project) == (["jax"], "file")


def test_make_guard_tests_the_targets_that_the_readme_names() -> None:
    targets = ["torch==2.13.0", "tensorflow-cpu==2.20.0", "tensorflow-cpu==2.21.0"]
    assert shown(ROOT) == (targets, "file")


def test_a_project_without_known_libraries_has_the_default_targets(project: Path) -> None:
    (project / "pyproject.toml").write_text(PYPROJECT.replace("keras", "kerasx"), "utf-8")
    assert shown(project) == (["torch==2.13.0"], "requirements")
    (project / "pyproject.toml").write_text("", "utf-8")
    assert shown(project)[1] == "default"


def test_plan_and_run_agree_with_config(project: Path, tmp_path: Path) -> None:
    planned = answer("plan", "--mode", "batch", "--json", folder=project)
    without_index = {
        **os.environ, "UV_OFFLINE": "1", "UV_CACHE_DIR": str(tmp_path), "UV_FIND_LINKS": "",
        "CIGUARD_CACHE": str(tmp_path / "cache"),
    }  # fmt: skip
    run = answer("run", "--budget", "20s", folder=project, variables=without_index)

    rows = [job["targets"] for job in json.loads(planned.stdout)["jobs"]]
    assert [name for row in rows for name in row] == BOTH
    assert run.returncode != 0
    assert all(f"target '{name}'" in run.stderr for name in BOTH)
