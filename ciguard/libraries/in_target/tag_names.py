"""Tags of APIs that need care, and the rows of patterns that assign them."""

from __future__ import annotations

from typing import NamedTuple

FILES = "files"
"""Tag of APIs that read, write or delete files."""
NETWORK = "network"
"""Tag of APIs that open connections or download."""
PROCESS = "process"
"""Tag of APIs that start processes or compilers, end the process or change its threads."""
GLOBAL_STATE = "global-state"
"""Tag of APIs that change the behaviour of later calls."""
BLOCKING = "blocking"
"""Tag of APIs that wait for an event that never happens in a single call."""
HANDLE = "handle"
"""Tag of APIs that need handles of runtime objects, such as variables, datasets and lists."""
RANDOM = "random"
"""Tag of APIs whose results are random by design."""
UNSTABLE = "unstable"
"""Tag of APIs whose results legitimately differ between runs, such as uninitialised memory."""
TIME = "time"
"""Tag of APIs whose results depend on the clock."""
DEBUG = "debug"
"""Tag of APIs that print, assert or crash on purpose."""
CALLBACK = "callback"
"""Tag of APIs that need Python functions as arguments, which cannot be generated."""
LAYOUT = "layout"
"""Tag of APIs that need a quantised or sparse tensor."""
REMOVED = "removed"
"""Tag of APIs that still have a name, but reject every call."""
UNDOCUMENTED = "undocumented"
"""Tag of APIs with a public name but no docstring, whose behaviour is unspecified."""


class TagRow(NamedTuple):
    """Patterns of APIs with one tag."""

    tag: str
    """Tag of the APIs that match."""
    scope: str
    """Regular expression that precedes every pattern."""
    reason: str
    """Reason for the tag."""
    patterns: tuple[str, ...]
    """Regular expressions that match the rest of the names."""
