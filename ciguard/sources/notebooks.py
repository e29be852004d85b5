"""The code of a notebook as one text, and the lines of the file that it comes from."""

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


@dataclass(frozen=True, slots=True)
class CodeText:
    """Python, with the line of the file for each of its own."""

    source: str | bytes
    file_lines: tuple[int, ...] = ()
    """Empty where they are the same."""

    def line(self, number: int) -> int:
        """Return the line of the file, from 1."""
        if not self.file_lines:
            return number
        return self.file_lines[min(number, len(self.file_lines)) - 1]


def code_of_notebook(content: bytes) -> CodeText:
    """Return the code cells of a notebook, one after the other, magics left out.

    Raises:
        ValueError: if it is no notebook.
    """
    text = content.decode("utf-8-sig")
    try:
        data = json.loads(text)
    except RecursionError as error:
        msg = "nested too deeply"
        raise ValueError(msg) from error
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        msg = "no cells: not a notebook"
        raise ValueError(msg)  # noqa: TRY004  (what is wrong is the file)
    lines = [line for cell in cells for line in _code_lines(cell)]
    kept = [_MAGIC.sub(r"\1pass", line) for line in lines]
    return CodeText("\n".join(kept), _file_lines(text, lines))


def _code_lines(cell: Any) -> list[str]:
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return []
    source = cell.get("source", "")
    parts = source if isinstance(source, list) else [source]
    text = "".join(part for part in parts if isinstance(part, str))
    return [] if text.lstrip().startswith("%%") else text.splitlines()


def _file_lines(text: str, lines: list[str]) -> tuple[int, ...]:
    """Return where each line of code stands: notebooks are written with one text per line."""
    standing: dict[str, list[int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        standing.setdefault(line.strip().rstrip(","), []).append(number)
    found: list[int] = []
    for line in lines:
        before = found[-1] if found else 0
        found.append(min(_later(line, standing, before), default=before or 1))
    return tuple(found)


def _later(line: str, standing: dict[str, list[int]], before: int) -> Iterator[int]:
    """Yield the next lines of the file that hold a line of code."""
    for text, is_ascii in product((line + "\n", line), (True, False)):
        numbers = standing.get(json.dumps(text, ensure_ascii=is_ascii), [])
        at = bisect_right(numbers, before)
        yield from numbers[at : at + 1]
