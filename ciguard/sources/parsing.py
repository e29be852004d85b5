"""Parsing of untrusted source text, within limits and without importing it."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 4_000_000
"""Maximum size of a source file; larger ones are generated."""


class UnreadableSourceError(ValueError):
    """Error for a source that is invalid for this interpreter, too long, or nested too deeply."""

    def __init__(self, reason: str, *, line: int = 0, kind: str = "") -> None:
        """Create the error.

        Args:
            reason: why the source cannot be read, in one line.
            line: line of the error, from 1; 0 if unknown.
            kind: name of the exception that Python raised; empty if Python raised none.
        """
        self.reason, self.line = reason, line
        where = f" in line {line}" if line else ""
        super().__init__(f"{kind}{where}: {reason}" if kind else reason)


def parse(source: str | bytes) -> ast.Module:
    """Return the syntax tree of a source text, without Python's warnings about it.

    Args:
        source: text, or bytes in the encoding that they declare.

    Raises:
        UnreadableSourceError: if the source is invalid for this interpreter, or nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        reason = getattr(error, "msg", None) or str(error).partition("\n")[0]
        raise UnreadableSourceError(reason, line=line, kind=type(error).__name__) from error


def parse_file(path: Path, *, max_bytes: int = MAX_BYTES) -> ast.Module:
    """Parse a file, decoded with the encoding that it declares, and return its syntax tree.

    Args:
        path: path of the file; links are followed.
        max_bytes: maximum size of the file in bytes.

    Raises:
        OSError: if the file cannot be read.
        UnreadableSourceError: if the file is too large, invalid for this interpreter, or nested too
            deeply.
    """
    with path.open("rb") as stream:
        content = stream.read(max_bytes + 1)
    if len(content) > max_bytes:
        msg = f"the file is larger than {max_bytes:,} bytes"
        raise UnreadableSourceError(msg)
    return parse(content)


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of an expression.

    Raises:
        SyntaxError: if the text is not an expression.
    """
    return ast.parse(text, mode="eval").body
