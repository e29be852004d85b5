"""Objects that every bucket of an emulated storage has, unless the application stores others.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

from typing import Dict

OBJECTS: Dict[str, bytes] = {}
"""Key of each object → its content."""


def stored(key: str, content: bytes) -> str:
    """Store an object, and return its key."""
    OBJECTS[key] = content
    return key


def remove_all() -> None:
    """Remove all objects."""
    OBJECTS.clear()
