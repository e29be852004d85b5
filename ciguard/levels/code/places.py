"""What a template knows of where its blocks stand: numbers of nodes, the same at every parse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """Something that several blocks use: when one of them changes it, that one gets a copy."""

    statement: int
    """The assignment, class or function that is copied."""
    name: str
    """As it is called: `self.relu`, `Fire`."""
    references: tuple[int, ...]
    """Nodes of this block that name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A call that may be changed."""

    node: int
    copied: int = -1
    """Place in `BlockPlace.copied` of what it stands in; -1: it belongs to the block alone."""
    uses: tuple[int, ...] = ()
    """Calls of what it makes, where they can be written otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlace:
    """What stands for one block in the program."""

    calls: tuple[CallSite, ...]
    """One for each call of the block."""
    own: tuple[int, ...]
    """One node for each of the program's own calls of the block."""
    copied: tuple[Copied, ...]
    statements: tuple[int, ...]
    steps: tuple[tuple[int, int | None], ...]
    """Nodes of an expression, the innermost first, each with the part that holds the data; None
    where that is no single part."""
    element: int | None
    within: tuple[int, ...]
    """Sequences around the element, the innermost first."""
    keys: tuple[str, ...]
    """Definitions that it needs."""
    takes: str
    gives: str
