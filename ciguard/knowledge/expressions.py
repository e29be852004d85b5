"""Python expressions in documentation: defaults and type hints. Many are not valid Python."""

from __future__ import annotations

import ast
import warnings

_MAX_LENGTH = 1_000
"""Maximum length of an expression that is parsed; the longest hint observed has 419 characters."""


def expression(text: str) -> ast.expr | None:
    """Return the syntax tree of an expression; None if the text is not one."""
    source = text.strip()
    if not source or len(source) > _MAX_LENGTH:
        return None
    try:
        with warnings.catch_warnings():
            # Python warns about text such as `1or 2`, which is not the user's text.
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # the parser raises MemoryError if brackets are nested too deeply


def literal(text: str) -> object:
    """Return the value of a literal.

    Raises:
        ValueError: if `text` is not a literal.
    """
    tree = expression(text)
    if tree is None:
        raise ValueError(text)
    try:
        return ast.literal_eval(tree)
    except (TypeError, MemoryError, RecursionError) as error:
        raise ValueError(text) from error
