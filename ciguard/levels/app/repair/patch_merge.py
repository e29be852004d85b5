"""Merge of patches that all apply to the original files."""

from __future__ import annotations

import difflib
import itertools
import re
from typing import TYPE_CHECKING, TypeAlias

from ciguard.sources import (
    diff_of,
    git_lines,
    is_valid_python,
    read_source,
    unquoted_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.sources import Source

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? ")
_WORD = re.compile(r"\w+|\W")
_Edit: TypeAlias = tuple[int, int, str]
"""Start, end and replacement of a range of characters."""


def merge_file_patches(source: Source, patches: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Merge patches of one file.

    Args:
        source: the original file.
        patches: patches of the file, the most important one first.

    Returns:
        The merged patch, and the patches that are left out because they overlap a previous one.
    """
    merged_edits: list[_Edit] = []
    left_out = []
    for patch in patches:
        edits = [edit for edit in _edits(source, patch) if edit not in merged_edits]
        candidate = sorted([*merged_edits, *edits])
        if _are_disjoint(candidate) and is_valid_python(_apply_edits(source.text, candidate)):
            merged_edits = candidate
        else:
            left_out.append(patch)
    return diff_of(source.file, source.text, _apply_edits(source.text, merged_edits)), tuple(
        left_out
    )


def merge_patches(application: Application, patches: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Merge patches of all files of an application, as `merge_file_patches` does for one file.

    Raises:
        OSError: if a file cannot be read any more.
    """
    by_file: dict[str, list[str]] = {}
    for patch in patches:
        by_file.setdefault(_file_of(patch), []).append(patch)
    merged_patches, left_out = [], list[str]()
    for file, file_patches in sorted(by_file.items()):
        source = read_source(application.root, file)
        merged, rejected = (
            merge_file_patches(source, file_patches) if source is not None else ("", file_patches)
        )
        merged_patches.append(merged)
        left_out += rejected
    return "".join(merged_patches), tuple(left_out)


def _file_of(patch: str) -> str:
    """Return the file that a patch changes, relative to the application's root."""
    return unquoted_path(patch.partition("\n")[0].removeprefix("--- ")).removeprefix("a/")


def _are_disjoint(edits: Sequence[_Edit]) -> bool:
    """Return whether edits, sorted by position, neither overlap nor touch each other."""
    return all(edit[1] < following[0] for edit, following in itertools.pairwise(edits))


def _apply_edits(text: str, edits: Sequence[_Edit]) -> str:
    for start, end, replacement in reversed(edits):
        text = text[:start] + replacement + text[end:]
    return text


def _edits(source: Source, patch: str) -> Iterator[_Edit]:
    """Yield the edits of a patch, as changes of single words."""
    starts = list(itertools.accumulate(map(len, git_lines(source.text)), initial=0))
    line_index, old, new = 0, "", ""
    for line in (*git_lines(patch)[2:], "@@"):
        if line[0] in "-+":
            old, new = (old + line[1:], new) if line[0] == "-" else (old, new + line[1:])
            line_index += line[0] == "-"
            continue
        if line.startswith("\\"):  # the previous line has no line ending
            old, new = (old.removesuffix("\n"), new) if not new else (old, new.removesuffix("\n"))
            continue
        yield from _word_edits(starts[line_index] - len(old), old, new)
        old, new = "", ""
        hunk = _HUNK.match(line)
        line_index = int(hunk[1]) - (hunk[2] != "0") if hunk else line_index + 1


def _word_edits(start: int, old: str, new: str) -> Iterator[_Edit]:
    before, after = (_WORD.findall(text) for text in (old, new))
    offsets = list(itertools.accumulate(map(len, before), initial=start))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, begin, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            yield offsets[begin], offsets[end], "".join(after[first:last])
