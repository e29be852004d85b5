"""A derivation tree, grown level by level (MoCo, section III-A2).

Only feedback changes it: `node` and `waiting` depend on what ran, not on what was proposed.
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
    """One tree at a time: when it is fully grown, the next one of the same seed starts."""

    def __init__(self, name: str, *, depth: int, breadth: int) -> None:
        """Create a tree.

        Args:
            name: the unique name, which seeds the randomness.
            depth: the number of blocks of the seed program.
            breadth: the maximum number of nodes of a generation that have children.
        """
        self._name = name
        self._full_depth = depth
        self._breadth = breadth
        self._root: Node | None = None
        self._frontier: deque[Node] = deque()
        """Nodes of this depth that are not expanded yet; the first is next."""
        self._children: list[Node] = []
        self._can_grow: Callable[[Node], bool] = lambda _: True
        self.round = 0
        """Number of trees that were completed before this one."""
        self.serial = 0
        """Serial number of the next node; feedback about another node is obsolete."""
        self.waiting: tuple[CandidateBlock, ...] = ()
        """Candidates for that node that ran alone; their whole programs run next."""

    @property
    def is_planted(self) -> bool:
        """True if the input of the first block is known."""
        return self._root is not None

    @property
    def node(self) -> Node:
        """Node that is expanded next.

        Raises:
            IndexError: if the tree is not planted.
        """
        return self._frontier[0]

    @property
    def depth(self) -> int:
        """Number of blocks of the next node."""
        return len(self.node.chain)

    def plant(self, fed: BlockInput, can_grow: Callable[[Node], bool]) -> None:
        """Start the tree.

        Args:
            fed: the form of the first block's input.
            can_grow: the predicate that is true if the next block can be fitted to a node.
        """
        self._root = Node(gives=fed)
        self._can_grow = can_grow
        self._frontier.append(self._root)

    def ran_alone(self, serial: int, candidates: tuple[CandidateBlock, ...]) -> None:
        """Record the blocks that ran alone as extensions of the node with a serial number."""
        if serial != self.serial or self.waiting:
            return
        self.waiting = candidates
        if not candidates:
            self._advance()

    def ran(self, serial: int, places: Collection[int]) -> None:
        """Record the whole programs that ran, by their indices among the waiting candidates."""
        if serial != self.serial or not self.waiting:
            return
        node = self.node
        self._children += [
            node.child(candidate)
            for index, candidate in enumerate(self.waiting)
            if index in places and not candidate.is_negative
        ]
        self._advance()

    def _advance(self) -> None:
        self.waiting = ()
        self.serial += 1
        self._frontier.popleft()
        if not self._frontier:
            self._start_generation()

    def _start_generation(self) -> None:
        candidates = [node for node in self._children if len(node.chain) < self._full_depth]
        candidates = [node for node in candidates if self._can_grow(node)]
        self._children = []
        rng = random.Random(f"{self._name} {self.round} {self.serial}")  # noqa: S311 - repeatable
        self._frontier.extend(pruned(candidates, rng, limit=self._breadth))
        if not self._frontier and self._root is not None:
            self.round += 1
            self._frontier.append(self._root)
