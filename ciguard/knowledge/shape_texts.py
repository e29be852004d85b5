"""Shapes in prose: `[batch, in_height, in_width, channels]`, `(N, C_{in}, 3)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.values import Between, Dim, Named

if TYPE_CHECKING:
    from collections.abc import Iterable

_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathit|textrm)\s*\{([^{}]*)\}")
_LATEX_FRACTION = re.compile(r"\\frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_LATEX_REST = re.compile(r"\\(?=[_, ])|[{}$]|\\[a-zA-Z]+|:math:|`")
_BRACKETED = re.compile(r"[\[(]([^\[\]()]{1,120})[\])]")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_OPEN = {"...", "*", "…", ".."}
_WINDOW = re.compile(r"k[hwdt]?$|filter|kernel|window|pool", re.IGNORECASE)
_SPATIAL = re.compile(
    r"(?:in_|out_|i|image_|input_)?(?:h|w|d|t|l|height|width|depth|rows|cols|columns|time|planes|"
    r"length|h_in|w_in|d_in|l_in|hin|win|din|lin)$",
    re.IGNORECASE,
)


def without_markup(text: str) -> str:
    """Return the text without LaTeX and reST markup, so that a formula reads like a list."""
    text = _LATEX_TEXT.sub(r"\1", text)
    text = _LATEX_FRACTION.sub(r"\1", text)
    return _LATEX_REST.sub("", text)


def shapes_in(text: str) -> Iterable[tuple[Dim, ...] | int]:
    """Yield each shape in a text; for a shape with an ellipsis, the minimum rank."""
    for match in _BRACKETED.finditer(text):
        parts = [part.strip() for part in match.group(1).split(",")]
        if parts[-1] == "":
            parts.pop()  # the comma of a one-element tuple
        if any(part in _OPEN for part in parts):
            yield len(parts) - 1
            continue
        dims = [_dim(part) for part in parts]
        shape = tuple(dim for dim in dims if dim is not None)
        if shape and len(shape) == len(dims):
            yield shape


def _dim(text: str) -> Dim | None:
    """Return the size or symbol that a text names; None if the text is prose."""
    if text.isdecimal():
        return int(text)
    if not text or len(text) > 40 or len(text.split()) > 3:  # noqa: PLR2004 - else prose
        return None
    name = _IDENTIFIER.search(text)
    if not name:
        return None
    symbol = name.group()
    if symbol != text.strip():
        # An expression. `C` is a good guess for `C / groups`; otherwise any small size is tried.
        return symbol if re.match(r"\w+\s*/", text) else Between(1, 4)
    if _WINDOW.match(symbol):
        return Named(symbol, 1, 3)
    return Named(symbol, 4, 8) if _SPATIAL.fullmatch(symbol) else symbol
