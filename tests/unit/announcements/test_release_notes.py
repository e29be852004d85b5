"""Release notes: items of the right versions, and those that name an API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from announcement_examples import documented

from ciguard.announcements import read_release_notes, release_notes_in
from ciguard.announcements.release_notes import notes_about
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

MARKDOWN = """\
# Unreleased
* torch.sort: next.

## torch 2.13.0 (July 2026)
### Breaking changes
* `torch.add` refuses
  strings.
- Another item.

A paragraph.

## torch 2.12.0
* torch.mul is old.
"""
RST = """\
2.13.0
======

New
---
- torch.add is new.

2.12.0
======
- torch.mul is old.
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "CHANGELOG.md"


def test_items_of_the_versions_after_the_base_are_read(notes: Path) -> None:
    notes.write_text(MARKDOWN)

    read = read_release_notes(notes, after="2.12.0", until="2.13.0+cpu")

    assert [(note.line, note.text) for note in read] == [
        (2, "torch.sort: next."),
        (6, "`torch.add` refuses strings."),
        (8, "Another item."),
        (10, "A paragraph."),
    ]
    assert read[0].words == "CHANGELOG.md, line 2, says “torch.sort: next.”"


def test_underlined_titles_are_read(notes: Path) -> None:
    notes.write_text(RST)

    read = read_release_notes(notes, after="2.12.0", until="2.13.0")

    assert [(note.line, note.text) for note in read] == [(6, "torch.add is new.")]


def test_without_comparable_versions_all_items_are_read(notes: Path) -> None:
    notes.write_text(RST)

    assert len(read_release_notes(notes, after="unknown", until="2.13.0")) == 2


@pytest.mark.parametrize(
    ("api", "aliases", "text", "is_named"),
    [
        ("torch.add", (), "Fix `torch.add` for strings", True),
        ("torch.add", (), "Fix torch.addmm and torch.add_", False),
        ("torch.add", (), "Fix mytorch.add and add", False),
        ("torch.add", (), "Fix torch.add.", True),
        ("tensorflow.abs", (), "tf.abs keeps integers", True),
        ("jax.numpy.sum", (), "{func}`jax.numpy.sum` and jnp.sum", True),
        ("torch.special.sinc", ("torch.sinc",), "torch.sinc is even", True),
    ],
)
def test_an_item_must_name_the_api(
    notes: Path, api: str, aliases: tuple[str, ...], text: str, *, is_named: bool
) -> None:
    notes.write_text(f"* {text}\n")
    read = read_release_notes(notes, after="1", until="2")

    assert bool(list(notes_about(read, documented(api=api, aliases=aliases).record))) is is_named


def test_a_file_that_cannot_be_read_is_an_error_with_its_name(notes: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"release-notes: \S+CHANGELOG.md: cannot be read"):
        read_release_notes(notes, after="1", until="2")
    notes.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=r"CHANGELOG.md"):
        read_release_notes(notes, after="1", until="2")


def test_files_of_release_notes_are_found_by_name(tmp_path: Path) -> None:
    for name in ("CHANGELOG.md", "RELEASE.rst", "news", "changes.py", "README.md"):
        (tmp_path / name).touch()

    assert [path.name for path in release_notes_in(tmp_path)] == [
        "CHANGELOG.md",
        "RELEASE.rst",
        "news",
    ]
    assert release_notes_in(tmp_path / "absent") == []
