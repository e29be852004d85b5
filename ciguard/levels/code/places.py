"""Places of blocks in a template, as numbers of nodes that are the same at every parse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDefinition:
    """A definition that several blocks use; a block that changes it gets its own copy."""

    statement: int
    """Number of the assignment, class or function that is copied."""
    name: str
    """Name that refers to it: `self.relu`, `Fire`."""
    references: tuple[int, ...]
    """Nodes of this block that refer to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A call that may be changed."""

    node: int
    """Number of the call's node."""
    copied: int = -1
    """Index in `BlockPlace.copied` of the definition that contains it; -1 if it belongs to the
    block alone."""
    uses: tuple[int, ...] = ()
    """Calls of the created layer that can be rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlace:
    """The nodes of one block in the program."""

    calls: tuple[CallSite, ...]
    """One site for each call of the block."""
    own: tuple[int, ...]
    """One node for each call of the program's own classes and functions."""
    copied: tuple[SharedDefinition, ...]
    statements: tuple[int, ...]
    steps: tuple[tuple[int, int | None], ...]
    """Nodes of an expression, the innermost first, each with the operand that holds the data; None
    if there is no single one."""
    element: int | None
    within: tuple[int, ...]
    """Sequences that contain the element, the innermost first."""
    keys: tuple[str, ...]
    """Names of the definitions that the block needs."""
    takes: str
    gives: str
