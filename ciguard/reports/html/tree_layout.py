"""Where the nodes of a tree are drawn: one row per block, a node above the middle of its children.

A tree that would be too wide is folded: siblings without children that ended well and alike
become one sign with their number; if that is not enough, all that leads to nothing wrong does.
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
    from ciguard.reports.html.forest import GrownTree, TreeNode

MAX_WIDE = 56
"""Places side by side from which on a tree is folded."""
MAX_MARKED = 60
"""Marked nodes that are drawn of one tree, findings first."""


@dataclass(slots=True, kw_only=True)
class Sign:
    """What is drawn at one place."""

    depth: int
    """0 for the template."""
    node: TreeNode | None = None
    """None for the template, and for many nodes together."""
    ended: NodeOutcome | None = None
    """Of many nodes together; None where they ended differently."""
    count: int = 1
    """How many nodes it stands for."""
    is_cut_off: bool = False
    """Whether what is between it and the template is unknown."""
    children: list[Sign] = field(default_factory=list)
    x: float = 0.0
    """In places from the left, from 0."""

    def every(self) -> Iterator[Sign]:
        """Yield this sign and all below it."""
        yield self
        for child in self.children:
            yield from child.every()


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLayout:
    """A tree as it is drawn."""

    root: Sign
    width: int
    """In places."""
    depth: int
    """Of the lowest row."""
    is_folded: bool
    left_out: int
    """Marked nodes that are not drawn."""


def layout(tree: GrownTree) -> TreeLayout:
    """Return how a tree is drawn, as little folded as it has to be."""
    marked = sorted(
        (node for node in tree.nodes.values() if node.is_marked),
        key=lambda node: node.bucket is None,
    )
    drawn = marked[:MAX_MARKED]
    folding = _Folding(_by_parent(tree), _lines(tree, drawn))
    root, width = _grown(folding, tree.root)
    is_crowded = len(marked) > MAX_MARKED
    for folded in (_Fold.LEAVES, _Fold.QUIET):
        if width > MAX_WIDE or is_crowded:
            root, width = _grown(replace(folding, fold=folded), tree.root)
    return TreeLayout(
        root=root,
        width=width,
        depth=max(sign.depth for sign in root.every()),
        is_folded=any(sign.count > 1 for sign in root.every()),
        left_out=len(marked) - len(drawn),
    )


def _grown(folding: _Folding, template: str) -> tuple[Sign, int]:
    root = Sign(depth=0)
    folding.grow(root, template)
    return root, placed(root)


def _by_parent(tree: GrownTree) -> dict[str, list[TreeNode]]:
    """Return the children of each node; of the template those too whose parent is unknown."""
    children: dict[str, list[TreeNode]] = {}
    for node in tree.nodes.values():
        parent = node.parent if node.parent in tree.nodes else tree.root
        children.setdefault(parent, []).append(node)
    return children


def _lines(tree: GrownTree, drawn: list[TreeNode]) -> frozenset[str]:
    """Return the nodes on the way to those that have to be drawn, and these."""
    found: set[str] = set()
    for node in drawn:
        step: TreeNode | None = node
        while step is not None and step.node not in found:
            found.add(step.node)
            step = tree.nodes.get(step.parent)
    return frozenset(found)


class _Fold(Enum):
    """What becomes one sign."""

    NOTHING = auto()
    LEAVES = auto()
    """Siblings without children that ended alike."""
    QUIET = auto()
    """All below a node that leads to nothing marked."""


@dataclass(frozen=True, slots=True)
class _Folding:
    """Makes signs of nodes."""

    by_parent: dict[str, list[TreeNode]]
    lines: frozenset[str]
    """Nodes that are never folded."""
    fold: _Fold = _Fold.NOTHING

    def grow(self, sign: Sign, node: str) -> None:
        """Give a sign its children."""
        folded: dict[NodeOutcome | None, Counter[int]] = {}
        for child in self.by_parent.get(node, ()):
            if self._is_folded(child):
                ended = None if self.fold is _Fold.QUIET else child.ended
                folded.setdefault(ended, Counter())[child.depth] += self._size(child)
                continue
            made = Sign(depth=child.depth, node=child, is_cut_off=child.depth != sign.depth + 1)
            self.grow(made, child.node)
            sign.children.append(made)
        for ended, depths in folded.items():
            sign.children.append(
                Sign(depth=min(depths), ended=ended, count=depths.total(), is_cut_off=False)
            )

    def _is_folded(self, node: TreeNode) -> bool:
        if node.node in self.lines or self.fold is _Fold.NOTHING:
            return False
        return self.fold is _Fold.QUIET or node.node not in self.by_parent

    def _size(self, node: TreeNode) -> int:
        waiting, count = [node.node], 0
        while waiting:
            count += 1
            waiting += [child.node for child in self.by_parent.get(waiting.pop(), ())]
        return count


def placed(root: Sign) -> int:
    """Give every sign its place, as close to its neighbours as both can be; return the width."""
    outline = _arrange(root)
    least = min(left for left, _ in outline.values())
    for sign in root.every():
        sign.x -= least
    return ceil(max(right for _, right in outline.values()) - least) + 1


_Outline = dict[int, tuple[float, float]]
"""The leftmost and the rightmost place by row."""


def _arrange(sign: Sign) -> _Outline:
    """Place all below a sign around 0, where the sign itself is; return the outline."""
    whole: _Outline = {}
    for child in sign.children:
        outline = _arrange(child)
        shift = max(
            (whole[row][1] - left + 1 for row, (left, _) in outline.items() if row in whole),
            default=0.0,
        )
        _move(child, shift)
        for row, (left, right) in outline.items():
            whole[row] = (whole.get(row, (left + shift, 0))[0], right + shift)
    if sign.children:
        middle = (sign.children[0].x + sign.children[-1].x) / 2
        for child in sign.children:
            _move(child, -middle)
        whole = {row: (left - middle, right - middle) for row, (left, right) in whole.items()}
    whole[sign.depth] = (0.0, 0.0)
    return whole


def _move(sign: Sign, by: float) -> None:
    for one in sign.every():
        one.x += by
