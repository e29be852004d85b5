from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from git_examples import git

from ciguard.config import load_config
from ciguard.project import VARIABLE, CiguardProject, project_of_action, repository_of, this_project

if TYPE_CHECKING:
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_variable_names_repository_and_commit() -> None:
    assert this_project({VARIABLE: f"owner/ciguard@{COMMIT}"}) == CiguardProject(
        repository="owner/ciguard", commit=COMMIT
    )


@pytest.mark.parametrize("text", ["owner", "owner/name/more", "../name", "o w/n", "a/b\n", "ö/b"])
def test_a_variable_that_names_no_repository_is_ignored(text: str) -> None:
    assert this_project({VARIABLE: text}) == this_project({})


def test_pages_of_an_unknown_project_are_empty() -> None:
    assert CiguardProject().page("issues") == ""
    assert CiguardProject(commit=COMMIT).document("docs/action.md") == ""


def test_documents_are_those_of_the_release_else_of_the_commit() -> None:
    released = CiguardProject(repository="owner/ciguard", commit=COMMIT, tag="v0.1.0")
    built = CiguardProject(repository="owner/ciguard", commit=COMMIT)

    assert released.document("docs/action.md").endswith("/blob/v0.1.0/docs/action.md")
    assert built.document("docs/action.md").endswith(f"/blob/{COMMIT}/docs/action.md")
    assert CiguardProject(repository="owner/ciguard").page() == "https://github.com/owner/ciguard"


@pytest.mark.parametrize(
    ("remote", "repository"),
    [
        ("https://github.com/owner/ciguard", "owner/ciguard"),
        ("https://github.com/owner/ciguard.git", "owner/ciguard"),
        ("https://x-access-token:secret@github.com/owner/ciguard/", "owner/ciguard"),
        ("git@github.com:owner/ciguard.git", "owner/ciguard"),
        ("ssh://git@ssh.github.com:443/owner/ciguard.git", "owner/ciguard"),
        ("/home/somebody/ciguard", ""),
        ("file:///srv/git/ciguard.git", ""),
        ("https://gitlab.com/owner/ciguard.git", ""),
        ("https://notgithub.com/owner/ciguard.git", ""),
        ("https://github.com/../ciguard.git", ""),
    ],
)
def test_a_checkout_names_the_repository_only_if_its_remote_is_on_github(
    remote: str, repository: str
) -> None:
    assert repository_of(remote) == repository


@pytest.mark.parametrize(
    ("path", "project"),
    [
        (f"/home/runner/work/_actions/owner/ciguard/{COMMIT}", f"owner/ciguard@{COMMIT}"),
        (f"/home/runner/work/_actions/owner/ciguard/{COMMIT}/./", f"owner/ciguard@{COMMIT}"),
        ("/home/runner/work/_actions/owner/ciguard/v0", "owner/ciguard"),
        ("/home/runner/work/_actions/ow ner/ciguard/v0", ""),
        ("/nowhere", ""),
        ("", ""),
    ],
)
def test_the_folder_of_an_action_names_its_project(path: str, project: str) -> None:
    assert project_of_action(path).name == project


def test_a_checkout_of_the_action_is_its_project_and_a_copy_in_another_repository_is_not(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "tools" / "ciguard"
    copy.mkdir(parents=True)
    for folder in (tmp_path, copy):
        (folder / "action.yml").touch()
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "origin", "https://github.com/owner/ciguard.git")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "all")
    commit = git(tmp_path, "rev-parse", "HEAD")

    assert project_of_action(str(tmp_path)).name == f"owner/ciguard@{commit}"
    assert project_of_action(str(copy)).name == ""


def test_the_variable_is_no_setting(tmp_path: Path) -> None:
    with_variable = load_config({}, {VARIABLE: "owner/ciguard"}, folder=tmp_path)

    assert with_variable == load_config({}, {}, folder=tmp_path)
