"""The derivation trees that a run grew, kept small while it goes on.

Thousands of nodes a minute may be heard of. Each is kept as a few short texts, and no more of them
than `MAX_NODES`: then whole trees are dropped in which nothing went wrong, those first that were
not heard of for longest, for they are finished; then what leads to nothing wrong in the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.domain.lineage import NodeOutcome, lineage, root_of
from ciguard.domain.text import shortened
from ciguard.triage import presentable

if TYPE_CHECKING:
    from ciguard.domain.events import ProgramRan
    from ciguard.domain.findings import Bucket
    from ciguard.domain.lineage import LineageNode
    from ciguard.triage import TreeOrigin

MAX_NODES = 20_000
"""About 10 MB."""
MAX_PROGRAMS = 500
"""Nodes that ended wrong whose programs are kept, to tell them from their parents."""
_KEPT_SHARE = 0.9
"""What is left when room is made: it is made seldom then."""
_MAX_DEPTH = 64
_MAX_LABEL = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """What a diff is made of."""

    program: str
    before: str
    """The parent's."""
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """One program of a tree."""

    node: str
    parent: str
    depth: int
    step: str
    """May hold fuzzed text."""
    ended: NodeOutcome
    programs: Programs | None = None
    bucket: Bucket | None = None
    """The finding that it is."""

    @property
    def is_marked(self) -> bool:
        """Whether it is a finding, or at least ended as it ought not."""
        return self.bucket is not None or self.ended.is_wrong


@dataclass(slots=True, kw_only=True)
class GrownTree:
    """One tree of one seed, as far as it was heard of."""

    seed: str
    number: int
    root: str
    nodes: dict[str, TreeNode] = field(default_factory=dict)
    blocks: dict[int, str] = field(default_factory=dict)
    """Name of the last block of the nodes of a depth."""
    dropped: int = 0
    """Nodes that there was no room for."""

    @property
    def findings(self) -> int:
        """How many nodes are findings."""
        return sum(node.bucket is not None for node in self.nodes.values())

    @property
    def marked(self) -> int:
        """How many nodes are findings, or ended as they ought not."""
        return sum(node.is_marked for node in self.nodes.values())

    def thin(self) -> int:
        """Drop every node that is not on the way to a marked one; return how many were dropped."""
        kept: set[str] = set()
        for node in self.nodes.values():
            step: TreeNode | None = node if node.is_marked else None
            while step is not None and step.node not in kept:
                kept.add(step.node)
                step = self.nodes.get(step.parent)
        gone = len(self.nodes) - len(kept)
        self.nodes = {name: node for name, node in self.nodes.items() if name in kept}
        self.dropped += gone
        return gone


class Forest:
    """Takes nodes as they are heard of, and the findings when the run ends."""

    def __init__(self, *, most: int = MAX_NODES) -> None:
        """Begin.

        Args:
            most: nodes that are kept.
        """
        self._most = most
        self._trees: dict[tuple[str, int], GrownTree] = {}
        """The one that was heard of last is the last."""
        self._count = 0
        self._programs = 0
        self._is_full = False
        self.dropped_trees = 0
        self.dropped_nodes = 0
        """Of trees that were dropped whole."""
        self._marks = 0
        self.unmarked = 0
        """Findings that there was no room for."""
        self.alone = 0
        """Findings about blocks that were run alone: such a block enters no tree."""

    def add(self, event: ProgramRan) -> None:
        """Take one node. If it was heard of before, what is wrong stays so."""
        tree = self._tree(event.seed, event.tree, event.parent if event.depth == 1 else "")
        known = tree.nodes.get(event.node)
        if known is not None and known.is_marked:
            return
        if known is None and not self._has_room(tree):
            tree.dropped += 1
            return
        self._count += known is None
        tree.blocks.setdefault(event.depth, shortened(event.block, _MAX_LABEL))
        tree.nodes[event.node] = TreeNode(
            node=event.node,
            parent=event.parent,
            depth=event.depth,
            step=shortened(event.step, _MAX_LABEL),
            ended=event.ended,
            programs=self._programs_of(event),
        )

    def _tree(self, seed: str, number: int, root: str) -> GrownTree:
        """Return a tree, from now on the last that was heard of."""
        tree = self._trees.pop((seed, number), None)
        tree = tree or GrownTree(seed=seed, number=number, root=root)
        tree.root = tree.root or root
        self._trees[seed, number] = tree
        return tree

    def _programs_of(self, event: ProgramRan) -> Programs | None:
        if not event.program or not event.before or self._programs >= MAX_PROGRAMS:
            return None
        self._programs += 1
        return Programs(program=event.program, before=event.before, line=event.line)

    def _has_room(self, growing: GrownTree) -> bool:
        if self._count >= self._most and not self._is_full:
            self._make_room(growing)
            self._is_full = self._count >= self._most
        return not self._is_full

    def _make_room(self, growing: GrownTree) -> None:
        enough = self._most * _KEPT_SHARE
        for key, tree in list(self._trees.items()):
            if self._count < enough:
                return
            if tree is not growing and not tree.marked:
                del self._trees[key]
                self._count -= len(tree.nodes)
                self.dropped_trees += 1
                self.dropped_nodes += len(tree.nodes) + tree.dropped
        for tree in self._trees.values():
            if self._count < enough:
                return
            self._count -= tree.thin()

    def mark(self, bucket: Bucket) -> None:
        """Mark the node of a bucket's finding; nodes on the way to it that are unknown are added.

        So a tree is told of too that an earlier part of the run grew, or another run.
        """
        case = bucket.finding.case
        origin = presentable(case).tree_origin(case)
        if origin is None or not bucket.is_met:
            return
        if origin.is_alone:
            self.alone += 1
            return
        ancestry = origin.ancestry
        members = lineage(ancestry)
        if len(members) > _MAX_DEPTH or self._marks >= MAX_PROGRAMS:
            self.unmarked += 1
            return
        self._marks += 1
        root = root_of(ancestry)
        tree = self._tree(ancestry.seed, ancestry.tree, root)
        parents = [root, *(member.node for member in members)]
        for depth, (parent, member) in enumerate(zip(parents, members, strict=False), 1):
            _take_for_run(tree, member, parent=parent, depth=depth)
        _mark(tree, members[-1].node, bucket, origin)

    def trees(self) -> list[GrownTree]:
        """Return the trees: those with most findings first, then most marked nodes, then most."""
        return sorted(
            (tree for tree in self._trees.values() if tree.nodes),
            key=lambda tree: (-tree.findings, -tree.marked, -len(tree.nodes), tree.number),
        )


def _take_for_run(tree: GrownTree, member: LineageNode, *, parent: str, depth: int) -> None:
    """Add a node that nothing was heard of: it ran, if it has children."""
    tree.blocks.setdefault(depth, shortened(member.step.block, _MAX_LABEL))
    if member.node not in tree.nodes:
        label = shortened(member.step.label, _MAX_LABEL)
        tree.nodes[member.node] = TreeNode(
            node=member.node, parent=parent, depth=depth, step=label, ended=NodeOutcome.RAN
        )


def _mark(tree: GrownTree, name: str, bucket: Bucket, origin: TreeOrigin) -> None:
    node, ancestry = tree.nodes[name], origin.ancestry
    ended = origin.ended if node.ended is NodeOutcome.RAN else node.ended
    line = ancestry.path[-1].line
    programs = Programs(program=origin.text, before=ancestry.parent, line=line)
    tree.nodes[name] = replace(node, bucket=bucket, ended=ended, programs=programs)
