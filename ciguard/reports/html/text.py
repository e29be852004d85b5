"""Texts of others on their way into the page."""

from __future__ import annotations

from ciguard.domain import shortened, visible
from ciguard.triage import without_local_paths


def shown(text: str, *, limit: int = 400) -> str:
    """Return text on one line: bounded, printable, without what only this machine knows.

    It is no markup yet: the template escapes it, the page's script shows it as text.
    """
    cut = shortened(text, 2 * limit)
    return visible(without_local_paths(cut) if "/" in cut else cut, limit=limit)
