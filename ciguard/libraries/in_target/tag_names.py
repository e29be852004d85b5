"""Why an API may need care: the tags, and the shape of the rows that give them."""

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
"""Waits for something that never comes in a single call."""
HANDLE = "handle"
"""Takes handles of runtime objects: variables, datasets, lists that other calls must make."""
RANDOM = "random"
"""Another result each time, by design."""
UNSTABLE = "unstable"
"""The result holds uninitialised memory, or differs between runs for other good reasons."""
TIME = "time"
"""The result depends on the clock."""
DEBUG = "debug"
"""Prints, asserts or crashes on purpose."""
CALLBACK = "callback"
"""Takes Python functions, which a generator cannot make up."""
REMOVED = "removed"
"""Still has a name, but refuses every call."""
UNDOCUMENTED = "undocumented"
"""A public name without a docstring: nobody has promised what it does."""


class TagRow(NamedTuple):
    """Patterns of one tag."""

    tag: str
    scope: str
    """Regular expression for what comes before the patterns."""
    reason: str
    patterns: tuple[str, ...]
