"""Lines of a text, as Python and as git count them, and unified diffs."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PYTHON_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NEEDS_QUOTES = re.compile(r'[\x00-\x1f\x7f"\\]')
_ESCAPE = re.compile(r"\\([0-7]{3})")


def source_lines(source: str) -> list[str]:
    """Return the lines of a program with their line ends, as Python counts them.

    `str.splitlines` would also split at characters that do not end a line, such as form feeds.
    """
    return _PYTHON_LINE.findall(source)


def diff_of(file: str, before: str, after: str) -> str:
    """Return a unified diff for `git apply`; empty if both texts are equal.

    Args:
        file: path of the file in the diff, with forward slashes.
        before: text before the change.
        after: text after the change.
    """
    lines = difflib.unified_diff(
        git_lines(before), git_lines(after), _diff_path(f"a/{file}"), _diff_path(f"b/{file}")
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def git_lines(text: str) -> Sequence[str]:
    """Return the lines of a text with their line ends, as git counts them: only LF ends a line."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def unquoted_path(text: str) -> str:
    """Return the path that `text` stands for in a diff by git, without quotes and escapes."""
    if not text.startswith('"'):
        return text.removesuffix("\t")
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text[1:-1])


def _diff_path(path: str) -> str:
    """Return the text that stands for a path in a diff by git, quoted and escaped if needed."""
    if _NEEDS_QUOTES.search(path):
        escaped = _NEEDS_QUOTES.sub(lambda match: f"\\{ord(match[0]):03o}", path)
        return f'"{escaped}"'
    return f"{path}\t" if " " in path else path
