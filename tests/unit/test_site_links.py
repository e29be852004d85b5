from __future__ import annotations

import runpy
from dataclasses import dataclass
from pathlib import Path

import pytest

HOOK = runpy.run_path(str(Path(__file__).parents[2] / "setup" / "site_links.py"))


@dataclass(frozen=True)
class File:
    src_uri: str


@dataclass(frozen=True)
class Page:
    file: File


def rendered(text: str, page: str = "levels/code.md") -> str:
    shown = HOOK["on_page_markdown"](text, page=Page(File(page)), config=None, files=None)
    assert isinstance(shown, str)
    return shown


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> str:
    commit = "0" * 40
    monkeypatch.setenv("CIGUARD_PROJECT", f"an/owner@{commit}")
    return f"https://github.com/an/owner/blob/{commit}"


def test_link_to_a_file_outside_the_pages_leads_to_the_repository(repository: str) -> None:
    assert rendered("[a](../../seeds/models#b)") == f"[a]({repository}/seeds/models#b)"
    assert rendered("[a](../README.md)", "index.md") == f"[a]({repository}/README.md)"


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    "link", ["[a](../oracles.md)", "[a](b.md#c)", "[a](https://b.example/../c)"]
)
def test_other_links_are_unchanged(link: str) -> None:
    assert rendered(link) == link


def test_links_without_a_known_repository_are_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HOOK["on_page_markdown"].__globals__, "this_project", NoProject)

    assert rendered("see [a](../../seeds/models).") == "see a."


class NoProject:
    def document(self, path: str) -> str:
        assert path
        return ""
