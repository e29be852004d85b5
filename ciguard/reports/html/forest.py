"""The derivation trees of a run, collected within a memory limit while the run goes on.

A run may report thousands of nodes per minute; a node is stored as a few short texts. At
`MAX_NODES` nodes, trees without marked nodes are dropped, the least recently extended first. If
this does not suffice, nodes of other trees are dropped if none of their descendants is marked.
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
"""Maximum number of stored nodes, which take about 10 MB."""
MAX_PROGRAMS = 500
"""Maximum number of nodes whose programs are stored, for a diff with the parent program."""
_REMAINING_SHARE = 0.9
"""Share of the maximum number of nodes that remains when nodes are dropped, which is thus rare."""
_MAX_DEPTH = 64
_MAX_LABEL = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Sources of a program and its parent, for a diff."""

    program: str
    before: str
    """Source of the parent program."""
    line: int
    """Line of the mutated call in `program`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """One program of a tree."""

    node: str
    """Name of the node."""
    parent: str
    """Name of the parent node; for depth 1, that of the template."""
    depth: int
    """Number of blocks that were inserted into the template."""
    step: str
    """Description of the mutation that derived the program. It may hold fuzzed text."""
    outcome: NodeOutcome
    """Outcome of the program."""
    programs: Programs | None = None
    bucket: Bucket | None = None
    """Bucket of the finding that the program shows; None if it shows none."""

    @property
    def is_marked(self) -> bool:
        """True if the program shows a finding, or had an unexpected outcome."""
        return self.bucket is not None or self.outcome.is_wrong


@dataclass(slots=True, kw_only=True)
class DerivationTree:
    """One derivation tree: the stored nodes of the programs that a run derived from a seed."""

    seed: str
    number: int
    """Number of the tree among the trees of the seed."""
    root: str
    """Name of the template's node; empty until it is known."""
    nodes: dict[str, TreeNode] = field(default_factory=dict)
    blocks: dict[int, str] = field(default_factory=dict)
    """Depth → name of the block that was inserted last in its nodes."""
    dropped: int = 0
    """Number of dropped nodes."""

    @property
    def finding_count(self) -> int:
        """Number of nodes that show a finding."""
        return sum(node.bucket is not None for node in self.nodes.values())

    @property
    def marked_count(self) -> int:
        """Number of marked nodes."""
        return sum(node.is_marked for node in self.nodes.values())

    def drop_unmarked(self) -> int:
        """Drop nodes that are neither marked nor ancestors of marked ones; return their number."""
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
    """Collects nodes while a run reports them, and marks its findings when it ends."""

    def __init__(self, *, max_nodes: int = MAX_NODES) -> None:
        """Create an empty forest.

        Args:
            max_nodes: the maximum number of stored nodes.
        """
        self._max_nodes = max_nodes
        self._trees: dict[tuple[str, int], DerivationTree] = {}
        """Trees by seed and number; the most recently extended tree is last."""
        self._node_count = 0
        self._program_count = 0
        self._is_full = False
        self.dropped_trees = 0
        self.dropped_nodes = 0
        """Number of nodes in the dropped trees."""
        self._mark_count = 0
        self.findings_without_node = 0
        """Number of findings that have no node because of the limits."""
        self.findings_outside_trees = 0
        """Number of findings about blocks that ran on their own, without a template."""

    def add(self, event: ProgramRan) -> None:
        """Add or update the node of a program; a marked node is not changed."""
        tree = self._tree(event.seed, event.tree, event.parent if event.depth == 1 else "")
        stored_node = tree.nodes.get(event.node)
        if stored_node is not None and stored_node.is_marked:
            return
        if stored_node is None and not self._has_room(tree):
            tree.dropped += 1
            return
        self._node_count += stored_node is None
        tree.blocks.setdefault(event.depth, shortened(event.block, _MAX_LABEL))
        tree.nodes[event.node] = TreeNode(
            node=event.node,
            parent=event.parent,
            depth=event.depth,
            step=shortened(event.step, _MAX_LABEL),
            outcome=event.ended,
            programs=self._programs_of(event),
        )

    def _tree(self, seed: str, number: int, root: str) -> DerivationTree:
        """Return a tree, created if needed, and move it to the end as the last extended one."""
        tree = self._trees.pop((seed, number), None)
        tree = tree or DerivationTree(seed=seed, number=number, root=root)
        tree.root = tree.root or root
        self._trees[seed, number] = tree
        return tree

    def _programs_of(self, event: ProgramRan) -> Programs | None:
        """Return the programs of a node if they are reported and the limit allows it."""
        if not event.program or not event.before or self._program_count >= MAX_PROGRAMS:
            return None
        self._program_count += 1
        return Programs(program=event.program, before=event.before, line=event.line)

    def _has_room(self, growing: DerivationTree) -> bool:
        """Return whether a node can be added; drop nodes if the forest becomes full."""
        if self._node_count >= self._max_nodes and not self._is_full:
            self._make_room(growing)
            self._is_full = self._node_count >= self._max_nodes
        return not self._is_full

    def _make_room(self, growing: DerivationTree) -> None:
        """Drop nodes until the remaining share of the maximum is reached."""
        target_count = self._max_nodes * _REMAINING_SHARE
        for key, tree in list(self._trees.items()):
            if self._node_count < target_count:
                return
            if tree is not growing and not tree.marked_count:
                del self._trees[key]
                self._node_count -= len(tree.nodes)
                self.dropped_trees += 1
                self.dropped_nodes += len(tree.nodes) + tree.dropped
        for tree in self._trees.values():
            if self._node_count < target_count:
                return
            self._node_count -= tree.drop_unmarked()

    def mark(self, bucket: Bucket) -> None:
        """Mark the node of a bucket's finding, and add missing nodes on the path to this node.

        A node is missing if an earlier part of the run, or another run, derived its program.
        """
        case = bucket.finding.case
        origin = presentable(case).tree_origin(case)
        if origin is None or not bucket.is_met:
            return
        if origin.is_alone:
            self.findings_outside_trees += 1
            return
        ancestry = origin.ancestry
        members = lineage(ancestry)
        if len(members) > _MAX_DEPTH or self._mark_count >= MAX_PROGRAMS:
            self.findings_without_node += 1
            return
        self._mark_count += 1
        root = root_of(ancestry)
        tree = self._tree(ancestry.seed, ancestry.tree, root)
        parents = [root, *(member.node for member in members)]
        for depth, (parent, member) in enumerate(zip(parents, members, strict=False), 1):
            _add_missing(tree, member, parent=parent, depth=depth)
        _mark(tree, members[-1].node, bucket, origin)

    def trees(self) -> list[DerivationTree]:
        """Return the non-empty trees, sorted by numbers of findings, marked nodes and nodes."""
        return sorted(
            (tree for tree in self._trees.values() if tree.nodes),
            key=lambda tree: (
                -tree.finding_count,
                -tree.marked_count,
                -len(tree.nodes),
                tree.number,
            ),
        )


def _add_missing(tree: DerivationTree, member: LineageNode, *, parent: str, depth: int) -> None:
    """Add a node that was not reported. Its program ran, as only such programs are mutated."""
    tree.blocks.setdefault(depth, shortened(member.step.block, _MAX_LABEL))
    if member.node not in tree.nodes:
        label = shortened(member.step.label, _MAX_LABEL)
        tree.nodes[member.node] = TreeNode(
            node=member.node, parent=parent, depth=depth, step=label, outcome=NodeOutcome.RAN
        )


def _mark(tree: DerivationTree, name: str, bucket: Bucket, origin: TreeOrigin) -> None:
    """Store the bucket and the programs of a finding in its node."""
    node, ancestry = tree.nodes[name], origin.ancestry
    outcome = origin.ended if node.outcome is NodeOutcome.RAN else node.outcome
    line = ancestry.path[-1].line
    programs = Programs(program=origin.text, before=ancestry.parent, line=line)
    tree.nodes[name] = replace(node, bucket=bucket, outcome=outcome, programs=programs)
