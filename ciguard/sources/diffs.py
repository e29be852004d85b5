"""Lines of texts, as Python and git count them, and changes of texts as unified diffs."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PYTHON_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NEEDS_QUOTES = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPED = re.compile(r"\\([0-7]{3})")


def source_lines(source: str) -> list[str]:
    """Return the lines of a program with their ends, as Python counts them.

    `str.splitlines` ends a line at form feeds and other characters too that may stand within one.
    """
    return _PYTHON_LINE.findall(source)


def diff_of(file: str, before: str, after: str) -> str:
    """Return what changes a file's text, as a unified diff for `git apply`; empty for nothing."""
    lines = difflib.unified_diff(
        git_lines(before), git_lines(after), _shown(f"a/{file}"), _shown(f"b/{file}")
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def git_lines(text: str) -> Sequence[str]:
    """Return the lines of a text as git counts them, with their ends."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def path_of(shown: str) -> str:
    """Return a path that git writes so in a diff."""
    if not shown.startswith('"'):
        return shown.removesuffix("\t")
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), shown[1:-1])


def _shown(path: str) -> str:
    """Return a path as git writes it in a diff."""
    if _NEEDS_QUOTES.search(path):
        escaped = _NEEDS_QUOTES.sub(lambda found: f"\\{ord(found[0]):03o}", path)
        return f'"{escaped}"'
    return f"{path}\t" if " " in path else path
