"""Objects that every storage bucket holds, until the application stores others.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

from typing import Dict

OBJECTS: Dict[str, bytes] = {}
"""Content of each object by its key."""


def stored(key: str, content: bytes) -> str:
    """Store an object, and return its key."""
    OBJECTS[key] = content
    return key


def forget() -> None:
    """Remove all objects."""
    OBJECTS.clear()
