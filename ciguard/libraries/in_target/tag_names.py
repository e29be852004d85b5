"""Tags of APIs that need care, and the rows of patterns that assign them."""

from __future__ import annotations

from typing import NamedTuple

FILES = "files"
"""Reads, writes or deletes files."""
NETWORK = "network"
"""Opens connections or downloads."""
PROCESS = "process"
"""Starts processes or compilers, ends this one, changes its threads."""
GLOBAL_STATE = "global-state"
"""Changes what later calls do."""
BLOCKING = "blocking"
"""Waits for an event that never happens in a single call."""
HANDLE = "handle"
"""Takes handles of runtime objects that other calls must create: variables, datasets, lists."""
RANDOM = "random"
"""Returns random results by design."""
UNSTABLE = "unstable"
"""Returns uninitialised memory, or differs between runs for another legitimate reason."""
TIME = "time"
"""Returns a result that depends on the clock."""
DEBUG = "debug"
"""Prints, asserts or crashes on purpose."""
CALLBACK = "callback"
"""Takes Python functions, which cannot be generated."""
REMOVED = "removed"
"""Still has a name, but rejects every call."""
UNDOCUMENTED = "undocumented"
"""Tag of an API with a public name but no docstring, whose behaviour is unspecified."""


class TagRow(NamedTuple):
    """Patterns of APIs with one tag."""

    tag: str
    """Tag of the APIs that match."""
    scope: str
    """Regular expression of the prefix of all patterns."""
    reason: str
    """Reason for the tag."""
    patterns: tuple[str, ...]
    """Regular expressions of names, after the prefix."""
