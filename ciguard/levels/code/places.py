"""Places of blocks in a template, as numbers of nodes, which are the same at each parse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedDefinition:
    """A definition that several blocks use; a block that changes the definition gets a copy."""

    statement: int
    """Number of the statement to copy: an assignment, a class or a function."""
    name: str
    """Name by which the program refers to the definition, e.g. `self.relu` or `Fire`."""
    references: tuple[int, ...]
    """Numbers of the block's nodes that refer to the definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """The node of a library call that a mutation may change."""

    node: int
    """Number of the call's node."""
    definition: int = -1
    """Index in `BlockPlace.shared` of the definition that contains the call; -1 if the call belongs
    to the block alone."""
    uses: tuple[int, ...] = ()
    """Numbers of the calls of the created layer that can be rewritten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlace:
    """The nodes of one block in the program."""

    calls: tuple[CallSite, ...]
    """One site for each library call of the block."""
    sized_calls: tuple[int, ...]
    """Numbers of the nodes of `Block.own_calls`."""
    shared: tuple[SharedDefinition, ...]
    """Definitions that the block shares with other blocks."""
    statements: tuple[int, ...]
    """Numbers of the statements that contain the block."""
    steps: tuple[tuple[int, int | None], ...]
    """Numbers of the operations in an expression, the innermost first. With each comes the number
    of the operand that holds the data, or None if there are none or several."""
    element: int | None
    """Number of the element of a sequence that is the block; None if the block is not an
    element."""
    sequences: tuple[int, ...]
    """Numbers of the sequences that contain the element, the innermost first."""
    keys: tuple[str, ...]
    """Names of the definitions that the block needs."""
    input_name: str
    """Name of the variable with the block's input."""
    output_name: str
    """Name of the variable with the block's output."""
