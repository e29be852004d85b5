"""A derivation tree, which grows generation by generation (MoCo, section III-A2).

Only feedback changes the tree: its state depends on what ran, not on what was proposed.
"""

from __future__ import annotations

import random
from collections import deque
from typing import TYPE_CHECKING

from ciguard.levels.code.nodes import Node
from ciguard.levels.code.pruning import select_parents

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ciguard.levels.code.blocks import BlockTensor
    from ciguard.levels.code.nodes import CandidateBlock


class Tree:
    """A derivation tree; when it is fully grown, the next tree of the same seed takes its place."""

    def __init__(self, name: str, *, depth: int, breadth: int) -> None:
        """Create a tree.

        Args:
            name: a unique name, which seeds the random numbers.
            depth: the number of blocks of the seed program.
            breadth: the maximum number of nodes of a generation that have children.
        """
        self._name = name
        self._full_depth = depth
        self._breadth = breadth
        self._root: Node | None = None
        self._frontier: deque[Node] = deque()
        """Nodes of the current generation that are not expanded yet; the first is next."""
        self._children: list[Node] = []
        """Nodes of the next generation so far, before pruning."""
        self._can_grow: Callable[[Node], bool] = lambda _: True
        self.round = 0
        """Number of trees of this seed that were completed before this one."""
        self.serial = 0
        """Serial number of `node`; feedback with another number is obsolete."""
        self.waiting_candidates: tuple[CandidateBlock, ...] = ()
        """Candidates for children of `node` that ran alone; their whole programs run next."""

    @property
    def is_planted(self) -> bool:
        """True once the form of the first block's input is known."""
        return self._root is not None

    @property
    def node(self) -> Node:
        """Node to expand next.

        Raises:
            IndexError: if the tree is not planted.
        """
        return self._frontier[0]

    @property
    def depth(self) -> int:
        """Number of blocks in the program of `node`."""
        return len(self.node.chain)

    def plant(self, input_form: BlockTensor, can_grow: Callable[[Node], bool]) -> None:
        """Start the tree.

        Args:
            input_form: the form of the first block's input.
            can_grow: a predicate that is true if the seed's next block can be fitted to a node.
        """
        self._root = Node(result_form=input_form)
        self._can_grow = can_grow
        self._frontier.append(self._root)

    def record_blocks(self, serial: int, candidates: tuple[CandidateBlock, ...]) -> None:
        """Record the blocks that ran alone, as extensions of the node with a serial number."""
        if serial != self.serial or self.waiting_candidates:
            return
        self.waiting_candidates = candidates
        if not candidates:
            self._advance()

    def record_programs(self, serial: int, indices: Collection[int]) -> None:
        """Record the programs that ran, by their indices among the waiting candidates."""
        if serial != self.serial or not self.waiting_candidates:
            return
        node = self.node
        self._children += [
            node.child(candidate)
            for index, candidate in enumerate(self.waiting_candidates)
            if index in indices and not candidate.is_negative
        ]
        self._advance()

    def _advance(self) -> None:
        self.waiting_candidates = ()
        self.serial += 1
        self._frontier.popleft()
        if not self._frontier:
            self._start_generation()

    def _start_generation(self) -> None:
        candidates = [node for node in self._children if len(node.chain) < self._full_depth]
        candidates = [node for node in candidates if self._can_grow(node)]
        self._children = []
        rng = random.Random(f"{self._name} {self.round} {self.serial}")  # noqa: S311 - a seeded generator is repeatable
        self._frontier.extend(select_parents(candidates, rng, limit=self._breadth))
        if not self._frontier and self._root is not None:
            self.round += 1
            self._frontier.append(self._root)
