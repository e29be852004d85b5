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
    definition: int = -1
    """Index in `BlockPlace.shared` of the definition that contains the call; -1 if the call belongs
    to the block alone."""
    uses: tuple[int, ...] = ()
    """Calls of the created layer that can be rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlace:
    """The nodes of one block in the program."""

    calls: tuple[CallSite, ...]
    """One site for each call of the block."""
    sized_calls: tuple[int, ...]
    """Calls of the program's own classes and functions with an argument that sets their input's
    size."""
    shared: tuple[SharedDefinition, ...]
    """Definitions that the block shares with other blocks."""
    statements: tuple[int, ...]
    """Statements that contain the block."""
    steps: tuple[tuple[int, int | None], ...]
    """Nodes of an expression, the innermost first, each with the operand that holds the data; the
    operand is None if there is more than one or none."""
    element: int | None
    """Element of a sequence that is the block; None if the block is not an element."""
    sequences: tuple[int, ...]
    """Sequences that contain the element, the innermost first."""
    keys: tuple[str, ...]
    """Names of the definitions that the block needs."""
    takes: str
    """Name of the variable with the block's input."""
    gives: str
    """Name of the variable with the block's output."""
