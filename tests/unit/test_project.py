from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from git_examples import git

from ciguard.config import load_config
from ciguard.project import VARIABLE, CiguardProject, project_of_action, repository_of, this_project

if TYPE_CHECKING:
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_this_project_reads_repository_and_commit_from_the_variable() -> None:
    assert this_project({VARIABLE: f"owner/ciguard@{COMMIT}"}) == CiguardProject(
        repository="owner/ciguard", commit=COMMIT
    )


@pytest.mark.parametrize("text", ["owner", "owner/name/more", "../name", "o w/n", "a/b\n", "ö/b"])
def test_this_project_ignores_a_malformed_variable(text: str) -> None:
    assert this_project({VARIABLE: text}) == this_project({})


def test_page_of_an_unknown_project_is_empty() -> None:
    assert CiguardProject().page("issues") == ""
    assert CiguardProject(commit=COMMIT).document("docs/action.md") == ""


def test_document_uses_the_release_or_the_commit() -> None:
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
def test_repository_of_accepts_only_remotes_on_github(remote: str, repository: str) -> None:
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
def test_project_of_action_follows_from_its_folder(path: str, project: str) -> None:
    assert project_of_action(path).name == project


def test_project_of_action_in_a_checkout_excludes_copies_in_other_repositories(
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


def test_project_variable_is_not_a_setting(tmp_path: Path) -> None:
    with_variable = load_config({}, {VARIABLE: "owner/ciguard"}, folder=tmp_path)

    assert with_variable == load_config({}, {}, folder=tmp_path)
