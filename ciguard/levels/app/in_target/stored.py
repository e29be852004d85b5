"""Objects that lie in every bucket of a storage, until the application puts others there.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

from typing import Dict

OBJECTS: Dict[str, bytes] = {}
"""By their keys."""


def stored(key: str, content: bytes) -> str:
    """Have an object lie there, and return its key."""
    OBJECTS[key] = content
    return key


def forget() -> None:
    """Have nothing lie there any more."""
    OBJECTS.clear()
