"""Several patches of a file as one: each applies alone, but after another its lines are others."""

from __future__ import annotations

import difflib
import itertools
import re
from typing import TYPE_CHECKING, TypeAlias

from ciguard.sources import (
    diff_of,
    git_lines,
    has_meaning,
    path_of,
    read_source,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.sources import Source

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")
_WORD = re.compile(r"\w+|\W")
_Edit: TypeAlias = tuple[int, int, str]
"""Between which characters of a file something else is written."""


def combined(source: Source, patches: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Make one patch of several.

    Args:
        source: the file that all of them change.
        patches: each of the file as it is, the most important first.

    Returns:
        The patch, and those that it leaves out because they change the same as one before.
    """
    kept: list[_Edit] = []
    left_out = []
    for patch in patches:
        edits = [one for one in _edits(source, patch) if one not in kept]
        together = sorted([*kept, *edits])
        if _are_apart(together) and has_meaning(_edited(source.text, together)):
            kept = together
        else:
            left_out.append(patch)
    return diff_of(source.file, source.text, _edited(source.text, kept)), tuple(left_out)


def combined_patches(
    application: Application, patches: Iterable[str]
) -> tuple[str, tuple[str, ...]]:
    """Make one patch of those of all files of an application, see `combined`.

    Raises:
        OSError: if a file cannot be read any more.
    """
    by_file: dict[str, list[str]] = {}
    for patch in patches:
        by_file.setdefault(_file_of(patch), []).append(patch)
    found, left_out = [], list[str]()
    for file, several in sorted(by_file.items()):
        source = read_source(application.root, file)
        one, others = combined(source, several) if source is not None else ("", several)
        found.append(one)
        left_out += others
    return "".join(found), tuple(left_out)


def _file_of(patch: str) -> str:
    """Return the file that a patch changes, below the application's root."""
    return path_of(patch.partition("\n")[0].removeprefix("--- ")).removeprefix("a/")


def _are_apart(edits: Sequence[_Edit]) -> bool:
    """Return whether no two edits, in the order of the file, touch each other."""
    return all(one[1] < other[0] for one, other in itertools.pairwise(edits))


def _edited(text: str, edits: Sequence[_Edit]) -> str:
    for start, end, written in reversed(edits):
        text = text[:start] + written + text[end:]
    return text


def _edits(source: Source, patch: str) -> Iterator[_Edit]:
    """Yield what a patch changes, as little as possible of each line."""
    starts = list(itertools.accumulate(map(len, git_lines(source.text)), initial=0))
    at, old, new = 0, "", ""
    for line in (*git_lines(patch)[2:], "@@"):
        if line[0] in "-+":
            old, new = (old + line[1:], new) if line[0] == "-" else (old, new + line[1:])
            at += line[0] == "-"
            continue
        if line.startswith("\\"):  # no end of line after the one before
            old, new = (old.removesuffix("\n"), new) if not new else (old, new.removesuffix("\n"))
            continue
        yield from _within(starts[at] - len(old), old, new)
        old, new = "", ""
        hunk = _HUNK.match(line)
        at = int(hunk[1]) - (hunk[2] != "0") if hunk else at + 1


def _within(start: int, old: str, new: str) -> Iterator[_Edit]:
    before, after = (_WORD.findall(one) for one in (old, new))
    offsets = list(itertools.accumulate(map(len, before), initial=start))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, begin, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            yield offsets[begin], offsets[end], "".join(after[first:last])
