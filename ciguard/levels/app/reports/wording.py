"""Wording that several reports of level `app` share."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    ending = "" if count == 1 else "es" if noun.endswith(("ch", "sh")) else "s"
    return f"{count} {noun}{ending}"
