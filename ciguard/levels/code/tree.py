"""A derivation tree, grown level by level (MoCo, section III-A2): what is to be run next.

Changed by lessons only: what `node` and `waiting` say follows from what ran, and from nothing that
was merely proposed.
"""

from __future__ import annotations

import random
from collections import deque
from typing import TYPE_CHECKING

from ciguard.levels.code.nodes import Node
from ciguard.levels.code.pruning import pruned

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ciguard.levels.code.blocks import BlockInput
    from ciguard.levels.code.nodes import CandidateBlock


class Tree:
    """One tree at a time: when it is grown, the next one of the same seed begins."""

    def __init__(self, name: str, *, depth: int, most: int) -> None:
        """Prepare a tree.

        Args:
            name: unique; chance follows from it.
            depth: how many blocks the seed has.
            most: nodes of a generation that have children.
        """
        self._name = name
        self._full_depth = depth
        self._most = most
        self._root: Node | None = None
        self._frontier: deque[Node] = deque()
        """Nodes of this depth that were not expanded yet; the first is next."""
        self._children: list[Node] = []
        self._can_grow: Callable[[Node], bool] = lambda _: True
        self.round = 0
        """How many trees were grown before this one."""
        self.serial = 0
        """Of the node that is next; a lesson about another one comes too late."""
        self.waiting: tuple[CandidateBlock, ...] = ()
        """Blocks behind that node that ran alone; whole programs are next."""

    @property
    def is_planted(self) -> bool:
        """Whether it is known what the first block is fed."""
        return self._root is not None

    @property
    def node(self) -> Node:
        """The node that is expanded next.

        Raises:
            IndexError: if the tree is not planted.
        """
        return self._frontier[0]

    @property
    def depth(self) -> int:
        """How many blocks the next node has."""
        return len(self.node.chain)

    def plant(self, fed: BlockInput, can_grow: Callable[[Node], bool]) -> None:
        """Begin.

        Args:
            fed: what the first block is called with.
            can_grow: whether the next block fits behind a node.
        """
        self._root = Node(gives=fed)
        self._can_grow = can_grow
        self._frontier.append(self._root)

    def ran_alone(self, serial: int, candidates: tuple[CandidateBlock, ...]) -> None:
        """Take the blocks that ran alone behind the node of this serial number."""
        if serial != self.serial or self.waiting:
            return
        self.waiting = candidates
        if not candidates:
            self._go_on()

    def ran(self, serial: int, places: Collection[int]) -> None:
        """Take the whole programs that ran, by their place among those that waited."""
        if serial != self.serial or not self.waiting:
            return
        node = self.node
        self._children += [
            node.child(candidate)
            for place, candidate in enumerate(self.waiting)
            if place in places and not candidate.is_negative
        ]
        self._go_on()

    def _go_on(self) -> None:
        self.waiting = ()
        self.serial += 1
        self._frontier.popleft()
        if not self._frontier:
            self._next_generation()

    def _next_generation(self) -> None:
        able = [node for node in self._children if len(node.chain) < self._full_depth]
        able = [node for node in able if self._can_grow(node)]
        self._children = []
        rng = random.Random(f"{self._name} {self.round} {self.serial}")  # noqa: S311 - repeatable
        self._frontier.extend(pruned(able, rng, most=self._most))
        if not self._frontier and self._root is not None:
            self.round += 1
            self._frontier.append(self._root)
