from __future__ import annotations

import pytest

from ciguard.project import VARIABLE, Project, this_project

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_variable_names_repository_and_commit() -> None:
    assert this_project({VARIABLE: f"owner/ciguard@{COMMIT}"}) == Project(
        repository="owner/ciguard", commit=COMMIT
    )


@pytest.mark.parametrize("text", ["owner", "owner/name/more", "o w/n", "a/b\n", "ö/b"])
def test_a_variable_that_names_no_repository_is_ignored(text: str) -> None:
    assert this_project({VARIABLE: text}) == this_project({})


def test_pages_of_an_unknown_project_are_empty() -> None:
    assert Project().page("issues") == ""
    assert Project(commit=COMMIT).document("docs/action.md") == ""


def test_documents_are_those_of_the_release_else_of_the_commit() -> None:
    released = Project(repository="owner/ciguard", commit=COMMIT, tag="v0.1.0")
    built = Project(repository="owner/ciguard", commit=COMMIT)

    assert released.document("docs/action.md").endswith("/blob/v0.1.0/docs/action.md")
    assert built.document("docs/action.md").endswith(f"/blob/{COMMIT}/docs/action.md")
    assert Project(repository="owner/ciguard").page() == "https://github.com/owner/ciguard"
