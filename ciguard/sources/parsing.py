"""Texts of others as syntax trees: within bounds, never imported or run."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 4_000_000
"""Of a file: what is longer was written by no person."""


class UnreadableSourceError(ValueError):
    """A text is no Python of this interpreter, or too long or nested too deep to be read."""

    def __init__(self, reason: str, *, line: int = 0, kind: str = "") -> None:
        """Say what is wrong.

        Args:
            reason: on one line.
            line: where, from 1; 0 where that is not known.
            kind: of what Python raised.
        """
        self.reason, self.line = reason, line
        where = f" in line {line}" if line else ""
        super().__init__(f"{kind}{where}: {reason}" if kind else reason)


def parse(source: str | bytes) -> ast.Module:
    """Return the tree of a text, without Python's warnings: these are not our sources.

    Args:
        source: a text, or bytes in whatever encoding they declare.

    Raises:
        UnreadableSourceError: if it is no Python of this interpreter, or nested too deep.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        reason = getattr(error, "msg", None) or str(error).partition("\n")[0]
        raise UnreadableSourceError(reason, line=line, kind=type(error).__name__) from error


def parse_file(path: Path, *, most: int = MAX_BYTES) -> ast.Module:
    """Return the tree of a file in whatever encoding it declares.

    Args:
        path: of the file; links are followed.
        most: bytes that it may have.

    Raises:
        OSError: if it cannot be read.
        UnreadableSourceError: if it is longer, no Python of this interpreter, or nested too deep.
    """
    with path.open("rb") as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        msg = f"larger than {most:,} bytes"
        raise UnreadableSourceError(msg)
    return parse(content)


def parse_expression(text: str) -> ast.expr:
    """Return the expression that a text is.

    Raises:
        SyntaxError: if it is none.
    """
    return ast.parse(text, mode="eval").body
