"""Layout of a derivation tree: one row per block, each node centred above its children.

A tree that is too wide is folded: several nodes get a common sign, which shows their number. First,
siblings that have no children and the same outcome are folded. If the tree is still too wide, all
subtrees without marked nodes are folded too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.lineage import NodeOutcome
    from ciguard.reports.html.forest import DerivationTree, TreeNode

MAX_WIDTH = 56
"""Maximum width of a tree, as a number of signs; a wider tree is folded."""
MAX_MARKED = 60
"""Maximum number of marked nodes that are drawn of one tree; findings are drawn first."""


@dataclass(slots=True, kw_only=True)
class Sign:
    """The drawing of one node, of several folded nodes, or of the template."""

    depth: int
    """Row of the sign; 0 for the template."""
    node: TreeNode | None = None
    """The node; None for the template and for several folded nodes."""
    outcome: NodeOutcome | None = None
    """Outcome that several folded nodes share; None if their outcomes differ."""
    count: int = 1
    """Number of nodes that the sign stands for."""
    is_cut_off: bool = False
    """True if nodes between the sign and the sign above it are unknown."""
    children: list[Sign] = field(default_factory=list)
    x: float = 0.0
    """Horizontal position, from 0 on; neighbouring signs have a distance of 1 or more."""

    def walk(self) -> Iterator[Sign]:
        """Yield this sign and all its descendants."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLayout:
    """The layout of a tree."""

    root: Sign
    width: int
    """Number of positions for signs in a row."""
    depth: int
    """Number of the lowest row."""
    is_folded: bool
    """True if any sign stands for several nodes."""
    left_out: int
    """Number of marked nodes that are not drawn."""


def layout(tree: DerivationTree) -> TreeLayout:
    """Return the layout of a tree, folded as little as possible."""
    marked = sorted(
        (node for node in tree.nodes.values() if node.is_marked),
        key=lambda node: node.bucket is None,
    )
    drawn = marked[:MAX_MARKED]
    folding = _Folding(_by_parent(tree), _with_ancestors(tree, drawn))
    root, width = _place_all(folding, tree.root)
    is_crowded = len(marked) > MAX_MARKED
    for fold in (_Fold.LEAVES, _Fold.UNMARKED):
        if width > MAX_WIDTH or is_crowded:
            root, width = _place_all(replace(folding, fold=fold), tree.root)
    return TreeLayout(
        root=root,
        width=width,
        depth=max(sign.depth for sign in root.walk()),
        is_folded=any(sign.count > 1 for sign in root.walk()),
        left_out=len(marked) - len(drawn),
    )


def _place_all(folding: _Folding, template: str) -> tuple[Sign, int]:
    """Return the sign of the template, with all signs below it, and the width of the tree."""
    root = Sign(depth=0)
    folding.grow(root, template)
    return root, set_positions(root)


def _by_parent(tree: DerivationTree) -> dict[str, list[TreeNode]]:
    """Return the children of each node; nodes with an unknown parent belong to the template."""
    children: dict[str, list[TreeNode]] = {}
    for node in tree.nodes.values():
        parent = node.parent if node.parent in tree.nodes else tree.root
        children.setdefault(parent, []).append(node)
    return children


def _with_ancestors(tree: DerivationTree, nodes: list[TreeNode]) -> frozenset[str]:
    """Return the names of nodes and of all their ancestors."""
    names: set[str] = set()
    for node in nodes:
        ancestor: TreeNode | None = node
        while ancestor is not None and ancestor.node not in names:
            names.add(ancestor.node)
            ancestor = tree.nodes.get(ancestor.parent)
    return frozenset(names)


class _Fold(Enum):
    """Which nodes are folded into one sign."""

    NOTHING = auto()
    LEAVES = auto()
    """Siblings without children that have the same outcome."""
    UNMARKED = auto()
    """All subtrees without marked nodes below one node."""


@dataclass(frozen=True, slots=True)
class _Folding:
    """Creates signs for nodes, some of them folded."""

    by_parent: dict[str, list[TreeNode]]
    never_folded: frozenset[str]
    """Names of the nodes that are never folded."""
    fold: _Fold = _Fold.NOTHING

    def grow(self, sign: Sign, node: str) -> None:
        """Add signs for all descendants of a node below its sign."""
        folded: dict[NodeOutcome | None, Counter[int]] = {}
        for child in self.by_parent.get(node, ()):
            if self._is_folded(child):
                outcome = None if self.fold is _Fold.UNMARKED else child.outcome
                folded.setdefault(outcome, Counter())[child.depth] += self._subtree_size(child)
                continue
            is_cut_off = child.depth != sign.depth + 1
            child_sign = Sign(depth=child.depth, node=child, is_cut_off=is_cut_off)
            self.grow(child_sign, child.node)
            sign.children.append(child_sign)
        for outcome, depths in folded.items():
            sign.children.append(
                Sign(depth=min(depths), outcome=outcome, count=depths.total(), is_cut_off=False)
            )

    def _is_folded(self, node: TreeNode) -> bool:
        """Return whether a node has no sign of its own."""
        if node.node in self.never_folded or self.fold is _Fold.NOTHING:
            return False
        return self.fold is _Fold.UNMARKED or node.node not in self.by_parent

    def _subtree_size(self, node: TreeNode) -> int:
        """Return the number of nodes in the subtree of a node, including the node."""
        remaining, count = [node.node], 0
        while remaining:
            count += 1
            remaining += [child.node for child in self.by_parent.get(remaining.pop(), ())]
        return count


def set_positions(root: Sign) -> int:
    """Set the position of every sign as far left as possible; return the width of the tree."""
    outline = _arrange(root)
    leftmost = min(left for left, _ in outline.values())
    for sign in root.walk():
        sign.x -= leftmost
    return ceil(max(right for _, right in outline.values()) - leftmost) + 1


_Outline = dict[int, tuple[float, float]]
"""Number of a row → positions of its leftmost and rightmost sign."""


def _arrange(sign: Sign) -> _Outline:
    """Place a sign at position 0 and its descendants around it; return the outline of all."""
    merged: _Outline = {}
    for child in sign.children:
        outline = _arrange(child)
        shift = max(
            (merged[row][1] - left + 1 for row, (left, _) in outline.items() if row in merged),
            default=0.0,
        )
        _move(child, shift)
        for row, (left, right) in outline.items():
            merged[row] = (merged.get(row, (left + shift, 0))[0], right + shift)
    if sign.children:
        middle = (sign.children[0].x + sign.children[-1].x) / 2
        for child in sign.children:
            _move(child, -middle)
        merged = {row: (left - middle, right - middle) for row, (left, right) in merged.items()}
    merged[sign.depth] = (0.0, 0.0)
    return merged


def _move(sign: Sign, distance: float) -> None:
    for descendant in sign.walk():
        descendant.x += distance
