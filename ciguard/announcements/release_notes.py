"""Release notes: the items of a changelog that are about the head and name an API."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from ciguard.errors import ConfigurationError
from ciguard.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.domain.records import ApiRecord

_MAX_BYTES = 16 << 20
_VERSION = re.compile(
    r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?(?:(?:a|b|rc|\.dev|\.post)\d+)?)(?![\w.]*\d)"
)
_TITLE = re.compile(r"#{1,6}\s+(.*)")
_UNDERLINE = re.compile(r"[=\-~]{3,}\s*")
_ITEM = re.compile(r"^\s*[-*+•]\s+")
_MAX_ITEM_LENGTH = 600
_ABBREVIATIONS = {"tensorflow": "tf", "jax.numpy": "jnp", "torch.nn.functional": "F"}
"""Names under which release notes of a library mention a module."""
_NAMES = ("changelog", "changes", "history", "news", "release", "release_notes", "releasenotes")
_SUFFIXES = ("", ".md", ".rst", ".txt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseNote:
    """One item of the release notes."""

    text: str
    source: str
    """Name of the file."""
    line: int
    """Line of the file, from 1."""

    @property
    def words(self) -> str:
        """The item as a phrase. It quotes the file: escape it for display."""
        return f"{self.source}, line {self.line}, says “{self.text}”"


def read_release_notes(path: Path, *, after: str, until: str) -> list[ReleaseNote]:
    """Return the items of a file of release notes that are about some versions.

    Items below no version, or below a title such as `Unreleased`, are included.

    Args:
        path: path of the file, in Markdown or reStructuredText.
        after: version of the base, whose items are excluded.
        until: version of the head, whose items are included.

    Raises:
        ConfigurationError: if the file cannot be read; names the file.
    """
    try:
        text = read_text(path, most=_MAX_BYTES)
    except (OSError, ValueError) as error:
        msg = f"release-notes: {path}: cannot be read: {error}. Name a text file, or omit it."
        raise ConfigurationError(msg) from error
    base, head = _version(after), _version(until)
    return [
        ReleaseNote(text=item, source=path.name, line=line)
        for version, line, item in _items(text.splitlines())
        if version is None or base is None or head is None or base < version <= head
    ]


def release_notes_in(folder: Path) -> list[Path]:
    """Return the files in a folder whose name says that they hold release notes, sorted."""
    if not folder.is_dir():
        return []
    wanted = {f"{name}{suffix}" for name in _NAMES for suffix in _SUFFIXES}
    return sorted(
        path for path in folder.iterdir() if path.name.lower() in wanted and path.is_file()
    )


def notes_about(notes: Sequence[ReleaseNote], record: ApiRecord) -> Iterator[ReleaseNote]:
    """Yield the items that name an API by its full name, an alias or a usual abbreviation."""
    names = {
        name
        for full in (record.api, *record.aliases)
        for name in (full, *_abbreviated(full))
        if "." in name
    }
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w.]*\w)")
    return (note for note in notes if pattern.search(note.text))


def _abbreviated(name: str) -> Iterator[str]:
    for module, short in _ABBREVIATIONS.items():
        if name.startswith(f"{module}."):
            yield short + name[len(module) :]


def _version(text: str) -> Version | None:
    """Return the released version of a text such as `2.13.0+cpu`; None if it is not a version."""
    try:
        return Version(Version(text).public)
    except InvalidVersion:
        return None


def _items(lines: list[str]) -> Iterator[tuple[Version | None, int, str]]:
    """Yield the version, line and text of each list item and paragraph."""
    version: Version | None = None
    words: list[str] = []
    start = 0
    for number, line in enumerate([*lines, ""], start=1):
        title = _TITLE.match(line)
        is_underlined = number < len(lines) and bool(_UNDERLINE.fullmatch(lines[number]))
        is_title = bool(title) or (is_underlined and bool(line.strip()))
        if words and (not line.strip() or is_title or _ITEM.match(line)):
            yield version, start, " ".join(words)[:_MAX_ITEM_LENGTH]
            words = []
        if is_title:
            version = _version_of_title(line, version)
        elif line.strip() and not _UNDERLINE.fullmatch(line):
            start = start if words else number
            words.extend(_ITEM.sub("", line, count=1).split())


def _version_of_title(title: str, current: Version | None) -> Version | None:
    """Return the version that a title names; titles within a version keep the current one."""
    match = _VERSION.search(title)
    if match:
        return _version(match[1])
    return None if re.search(r"unreleased|upcoming|next|main", title, re.IGNORECASE) else current
