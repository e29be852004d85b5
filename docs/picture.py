# ruff: noqa: INP001 - a script's part, not a module
"""The picture of the architecture: every package of ciguard, with what its docstring says of it.

A package imports only from those above it, or to its left in one row: `tests/unit/test_layers.py`.
"""

from __future__ import annotations

import ast
import textwrap
from html import escape
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "ciguard"
BANDS = {
    "vocabulary": ("annotations", "sources", "domain", "config", "values"),
    "libraries": ("libraries", "knowledge", "targets"),
    "running code": ("execution", "writing", "functions"),
    "judging": ("levels", "oracles", "triage", "announcements", "baseline"),
    "a campaign": ("campaign",),
    "around it": ("planning", "suggesting", "reports", "trackers"),
    "what is tested": (
        "levels.api",
        "levels.model",
        "levels.code",
        "levels.function",
        "levels.graph",
        "levels.app",
    ),
    "entry points": ("actions", "cli"),
}
"""Packages by what they are for, in the order of imports."""
_WIDTH, _MARGIN, _LABEL, _GAP, _HEIGHT = 1040, 16, 128, 12, 104
_FONT = "font-family='Helvetica, Arial, sans-serif'"
_LETTER_WIDTH = 6.7


def architecture() -> str:
    """Return the picture as SVG."""
    height = 2 * _MARGIN + len(BANDS) * (_HEIGHT + _GAP) - _GAP
    parts = [
        (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' role='img' "
            "aria-label='The packages of ciguard, each importing only from those above it'>"
        ),
        f"<rect width='{_WIDTH}' height='{height}' fill='#ffffff'/>",
    ]
    for row, (band, packages) in enumerate(BANDS.items()):
        parts += _band(band, packages, y=_MARGIN + row * (_HEIGHT + _GAP))
    return "\n".join([*parts, "</svg>", ""])


def _band(title: str, packages: tuple[str, ...], *, y: int) -> list[str]:
    room = _WIDTH - 2 * _MARGIN - _LABEL
    width = (room - (len(packages) - 1) * _GAP) // len(packages)
    middle = y + _HEIGHT // 2 + 4
    parts = [
        f"<text x='{_MARGIN}' y='{middle}' {_FONT} font-size='13' fill='#57606a'>{title}</text>"
    ]
    for at, package in enumerate(packages):
        x = _MARGIN + _LABEL + at * (width + _GAP)
        parts += [
            (
                f"<rect x='{x}' y='{y}' width='{width}' height='{_HEIGHT}' rx='6' fill='#f6f8fa' "
                "stroke='#8c959f'/>"
            ),
            (
                f"<text x='{x + 10}' y='{y + 20}' {_FONT} font-size='14' font-weight='bold' "
                f"fill='#1f2328'>{package.replace('.', '/')}</text>"
            ),
        ]
        lines = textwrap.wrap(_caption(package), int((width - 20) / _LETTER_WIDTH))
        parts += [
            f"<text x='{x + 10}' y='{y + 38 + 15 * number}' {_FONT} font-size='12' "
            f"fill='#424a53'>{escape(line, quote=False)}</text>"
            for number, line in enumerate(lines)
        ]
    return parts


def _caption(package: str) -> str:
    """Return what a package's docstring says first, without its own name."""
    file = PACKAGE / package.replace(".", "/") / "__init__.py"
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    sentence = " ".join(text.partition("\n\n")[0].split()).replace("`", "")
    name, colon, rest = sentence.partition(": ")
    if colon and name.lower().replace("level ", "levels.").rstrip("s") == package.rstrip("s"):
        sentence = rest[0].upper() + rest[1:]
    return sentence
