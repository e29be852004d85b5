"""A notebook's code as one source text, with the line in the file for each line of the text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?{1,2})$")
"""A line that is IPython syntax: a magic, a shell command or a request for help."""


@dataclass(frozen=True, slots=True)
class CodeText:
    """Python source text, with the line numbers in the file that contains it."""

    source: str | bytes
    file_lines: tuple[int, ...] = ()
    """Line number in the file for each line of `source`; empty if both numbers are equal."""

    def line(self, number: int) -> int:
        """Return the line number in the file for a line number of `source`; both count from 1."""
        if not self.file_lines:
            return number
        return self.file_lines[min(number, len(self.file_lines)) - 1]


def code_of_notebook(content: bytes) -> CodeText:
    """Return a notebook's code cells as one text; magics and cells of other languages are left out.

    Raises:
        ValueError: if the content is not a notebook.
    """
    text = content.decode("utf-8-sig")
    try:
        data = json.loads(text)
    except RecursionError as error:
        msg = "not a notebook: the JSON is nested too deeply"
        raise ValueError(msg) from error
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        msg = "not a notebook: the file has no list of cells"
        raise ValueError(msg)  # noqa: TRY004 - one type of error for all malformed files
    lines = [line for cell in cells for line in _code_lines(cell)]
    python_lines = [_MAGIC.sub(r"\1pass", line) for line in lines]
    return CodeText("\n".join(python_lines), _file_lines(text, lines))


def _code_lines(cell: Any) -> list[str]:
    """Return the lines of a code cell; empty for other cells and for cell magics (`%%bash`)."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return []
    source = cell.get("source", "")
    parts = source if isinstance(source, list) else [source]
    text = "".join(part for part in parts if isinstance(part, str))
    return [] if text.lstrip().startswith("%%") else text.splitlines()


def _file_lines(text: str, lines: list[str]) -> tuple[int, ...]:
    """Return the line number in the file for each line of code.

    Args:
        text: text of the notebook, in which a JSON string on its own line holds a line of code.
        lines: the lines of code, in order.
    """
    numbers_by_text: dict[str, list[int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        numbers_by_text.setdefault(line.strip().rstrip(","), []).append(number)
    file_lines: list[int] = []
    for line in lines:
        previous = file_lines[-1] if file_lines else 0
        candidates = _lines_after(previous, line, numbers_by_text)
        file_lines.append(min(candidates, default=previous or 1))
    return tuple(file_lines)


def _lines_after(previous: int, line: str, numbers_by_text: dict[str, list[int]]) -> Iterator[int]:
    """Yield numbers of lines after `previous` that contain a line of code as a JSON string.

    Of each JSON form of the line, the first occurrence is yielded.
    """
    for text, is_ascii in product((line + "\n", line), (True, False)):
        numbers = numbers_by_text.get(json.dumps(text, ensure_ascii=is_ascii), [])
        index = bisect_right(numbers, previous)
        yield from numbers[index : index + 1]
