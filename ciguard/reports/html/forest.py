"""The derivation trees of a run, kept within a memory limit while the run goes on.

A run may report thousands of nodes per minute, each of which is stored as a few short texts. At
`MAX_NODES` nodes, trees without marked nodes are dropped, the least recently extended first. Then
the other trees lose the nodes that lead to no marked node.
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
"""Limit on the stored nodes, about 10 MB."""
MAX_PROGRAMS = 500
"""Limit on the marked nodes whose programs are stored for a diff with the parent."""
_KEPT_SHARE = 0.9
"""Share of `MAX_NODES` that remains after nodes were dropped, so that dropping is rare."""
_MAX_DEPTH = 64
_MAX_LABEL = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """A program and its parent, for a diff."""

    program: str
    before: str
    """Source of the parent program."""
    line: int
    """Line of the call that was mutated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """One program of a tree."""

    node: str
    parent: str
    depth: int
    step: str
    """Description of the mutation that made it. May hold fuzzed text."""
    ended: NodeOutcome
    """Outcome of the program."""
    programs: Programs | None = None
    bucket: Bucket | None = None
    """Bucket of the finding that the program shows; None if it shows none."""

    @property
    def is_marked(self) -> bool:
        """True if it shows a finding, or had an unexpected outcome."""
        return self.bucket is not None or self.ended.is_wrong


@dataclass(slots=True, kw_only=True)
class GrownTree:
    """One tree of one seed, as far as it was reported and kept."""

    seed: str
    number: int
    root: str
    nodes: dict[str, TreeNode] = field(default_factory=dict)
    blocks: dict[int, str] = field(default_factory=dict)
    """Name of the last block of the nodes, by their depth."""
    dropped: int = 0
    """Number of dropped nodes."""

    @property
    def findings(self) -> int:
        """Number of nodes that show a finding."""
        return sum(node.bucket is not None for node in self.nodes.values())

    @property
    def marked(self) -> int:
        """Number of marked nodes."""
        return sum(node.is_marked for node in self.nodes.values())

    def thin(self) -> int:
        """Drop all nodes but marked ones and their ancestors; return how many were dropped."""
        kept: set[str] = set()
        for node in self.nodes.values():
            ancestor: TreeNode | None = node if node.is_marked else None
            while ancestor is not None and ancestor.node not in kept:
                kept.add(ancestor.node)
                ancestor = self.nodes.get(ancestor.parent)
        dropped = len(self.nodes) - len(kept)
        self.nodes = {name: node for name, node in self.nodes.items() if name in kept}
        self.dropped += dropped
        return dropped


class Forest:
    """Collects the nodes as they are reported, and marks the findings when the run ends."""

    def __init__(self, *, most: int = MAX_NODES) -> None:
        """Create an empty forest.

        Args:
            most: the limit on the stored nodes.
        """
        self._max_nodes = most
        self._trees: dict[tuple[str, int], GrownTree] = {}
        """Trees by seed and number, the most recently extended last."""
        self._count = 0
        self._programs = 0
        self._is_full = False
        self.dropped_trees = 0
        self.dropped_nodes = 0
        """Number of nodes of dropped trees."""
        self._marks = 0
        self.unmarked = 0
        """Number of findings beyond the limits, which have no node."""
        self.alone = 0
        """Number of findings about blocks that ran on their own, outside of any tree."""

    def add(self, event: ProgramRan) -> None:
        """Add or update one node; a marked node stays as it is."""
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
        """Return a tree, which becomes the most recently extended one; create it if needed."""
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
        if self._count >= self._max_nodes and not self._is_full:
            self._make_room(growing)
            self._is_full = self._count >= self._max_nodes
        return not self._is_full

    def _make_room(self, growing: GrownTree) -> None:
        target_count = self._max_nodes * _KEPT_SHARE
        for key, tree in list(self._trees.items()):
            if self._count < target_count:
                return
            if tree is not growing and not tree.marked:
                del self._trees[key]
                self._count -= len(tree.nodes)
                self.dropped_trees += 1
                self.dropped_nodes += len(tree.nodes) + tree.dropped
        for tree in self._trees.values():
            if self._count < target_count:
                return
            self._count -= tree.thin()

    def mark(self, bucket: Bucket) -> None:
        """Mark the node of a bucket's finding, and add missing nodes on the path to it.

        Nodes are missing if an earlier part of the run, or another run, created them.
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
            _add_missing(tree, member, parent=parent, depth=depth)
        _mark(tree, members[-1].node, bucket, origin)

    def trees(self) -> list[GrownTree]:
        """Return the non-empty trees, those with the most findings, then marked nodes, first."""
        return sorted(
            (tree for tree in self._trees.values() if tree.nodes),
            key=lambda tree: (-tree.findings, -tree.marked, -len(tree.nodes), tree.number),
        )


def _add_missing(tree: GrownTree, member: LineageNode, *, parent: str, depth: int) -> None:
    """Add a node that was not reported. It ran, since only such nodes have children."""
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
