"""Python expressions in documentation: defaults, hints. They may be anything but Python."""

from __future__ import annotations

import ast
import warnings

_LIMIT = 1_000
"""Characters of an expression worth reading: the longest hint that was met has 419."""


def expression(text: str) -> ast.expr | None:
    """Return the syntax tree of an expression; None for what is none."""
    stripped = text.strip()
    if not stripped or len(stripped) > _LIMIT:
        return None
    try:
        with warnings.catch_warnings():
            # `1or 2` is worth a warning to Python, and none to whoever runs a campaign.
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(stripped, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # MemoryError is what the parser says of brackets nested too deeply


def literal(text: str) -> object:
    """Return the value of a literal.

    Raises:
        ValueError: if `text` is no literal.
    """
    tree = expression(text)
    if tree is None:
        raise ValueError(text)
    try:
        return ast.literal_eval(tree)
    except (TypeError, MemoryError, RecursionError) as error:
        raise ValueError(text) from error
