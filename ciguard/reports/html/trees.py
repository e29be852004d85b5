"""The page's section about derivation trees: drawings, and a diff of each marked node."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from ciguard.domain.lineage import NodeOutcome
from ciguard.domain.text import visible
from ciguard.reports.html.tree_drawing import WORDS, drawing, gutter, sample
from ciguard.reports.html.tree_layout import layout
from ciguard.reports.wording import publishable, state
from ciguard.triage import program_diff, without_local_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from ciguard.domain.findings import Bucket
    from ciguard.reports.html.forest import Forest, GrownTree, TreeNode
    from ciguard.reports.html.tree_layout import TreeLayout
    from ciguard.triage import DiffLine

MAX_TREES = 16
MAX_SIGNS = 6_000
"""Limit on the signs of all drawings."""
_DIFFS_LIMIT = 1 << 20
"""Limit on the characters of all diffs."""
MAX_DIFF = 60
"""Limit on the lines of one diff."""
_MAX_LINE = 200
_KINDS = {"+": "added", "-": "removed", "@": "place", "…": "place", " ": "kept"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """The bucket that a node shows."""

    name: str
    address: str
    state: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A marked node, with its difference from the parent program."""

    node: str
    sign: Markup
    step: str
    ended: str
    way: tuple[str, ...]
    """Steps from the template to its parent."""
    lines: list[tuple[str, str, bool]]
    """(class, text, whether the mutated call starts there); empty if the parent is unknown."""
    finding: ShownFinding | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTree:
    """One tree."""

    heading: str
    summary: str
    notes: list[str]
    gutter: Markup
    drawing: Markup
    derived: list[Derived]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownForest:
    """The section about derivation trees."""

    trees: list[ShownTree]
    legend: list[tuple[Markup, str]]
    notes: list[str]

    @property
    def nodes(self) -> dict[str, str]:
        """Nodes on the page, by the fingerprint of their bucket."""
        derived = chain.from_iterable(tree.derived for tree in self.trees)
        return {node.finding.name: node.node for node in derived if node.finding}


def shown_forest(forest: Forest, buckets: Sequence[Bucket]) -> ShownForest | None:
    """Return the section about the trees; None if no program was derived.

    Args:
        forest: the trees of the run; this function marks the findings in it.
        buckets: the buckets of the run.
    """
    for bucket in buckets:
        forest.mark(bucket)
    trees = forest.trees()
    if not trees:
        return None
    shown: list[ShownTree] = []
    signs_left, characters_left = MAX_SIGNS, _DIFFS_LIMIT
    for tree in trees[:MAX_TREES]:
        tree_layout = layout(tree)
        signs_left -= sum(1 for _ in tree_layout.root.every())
        if signs_left < 0 and shown:
            break
        derived = _derived(tree, tree_layout, characters_left)
        characters_left -= sum(len(text) for node in derived for _, text, _ in node.lines)
        shown.append(_shown(tree, tree_layout, derived))
    return ShownForest(trees=shown, legend=_legend(), notes=_notes(forest, trees[len(shown) :]))


def _derived(tree: GrownTree, tree_layout: TreeLayout, characters_left: int) -> list[Derived]:
    """Return the marked nodes that are drawn, findings first, up to the limit of characters."""
    nodes = [sign.node for sign in tree_layout.root.every() if sign.node and sign.node.is_marked]
    derived = []
    for node in sorted(nodes, key=lambda node: (node.bucket is None, node.depth)):
        lines = diff_lines(_diff(node))
        characters_left -= sum(len(text) for _, text, _ in lines)
        if characters_left < 0:
            break
        derived.append(
            Derived(
                node=node.node,
                sign=sample(node.ended, is_finding=node.bucket is not None),
                step=publishable(node.step, limit=_MAX_LINE),
                ended=WORDS[node.ended],
                way=_way(tree, node),
                lines=lines,
                finding=_finding(node.bucket),
            )
        )
    return derived


def _diff(node: TreeNode) -> list[DiffLine]:
    if node.programs is None or not node.programs.before:
        return []
    programs = node.programs
    return program_diff(programs.before, programs.program, line=programs.line, max_lines=MAX_DIFF)


def diff_lines(lines: Sequence[DiffLine]) -> list[tuple[str, str, bool]]:
    """Return the lines of a diff as (class, text, whether the mutated call starts there)."""
    return [
        (
            _KINDS[line.kind.value],
            visible(without_local_paths(str(line)), limit=_MAX_LINE),
            line.is_changed_call,
        )
        for line in lines
    ]


def _way(tree: GrownTree, node: TreeNode) -> tuple[str, ...]:
    steps: list[str] = []
    parent = tree.nodes.get(node.parent)
    while parent is not None:
        steps.append(publishable(parent.step, limit=_MAX_LINE))
        parent = tree.nodes.get(parent.parent)
    return tuple(steps[::-1])


def _finding(bucket: Bucket | None) -> ShownFinding | None:
    if bucket is None:
        return None
    name = publishable(bucket.fingerprint, limit=40)
    return ShownFinding(
        name=name,
        address=f"#{quote(name, safe='')}",
        state=state(bucket),
        message=publishable(bucket.finding.message, limit=240),
    )


def _shown(tree: GrownTree, tree_layout: TreeLayout, derived: list[Derived]) -> ShownTree:
    heading = f"{publishable(tree.seed, limit=80)}, tree {tree.number + 1}"
    summary = _counted(tree)
    notes = []
    if tree_layout.is_folded:
        notes.append("A sign with a number stands for that many programs without marked ones.")
    if tree_layout.left_out:
        notes.append(f"Not drawn: {tree_layout.left_out:,} more with an unexpected outcome.")
    if tree.dropped:
        notes.append(f"Dropped to limit memory: {_plural(tree.dropped, 'program')} more.")
    linked = {node.node for node in derived}
    return ShownTree(
        heading=heading,
        summary=summary,
        notes=notes,
        gutter=gutter(tree_layout, tree.blocks),
        drawing=drawing(tree_layout, linked, label=f"Derivation tree of {heading}: {summary}"),
        derived=derived,
    )


def _counted(tree: GrownTree) -> str:
    depth = max(node.depth for node in tree.nodes.values())
    parts = [
        _plural(len(tree.nodes), "program"),
        f"{_plural(depth, 'block')} deep",
        *([_plural(tree.findings, "finding")] if tree.findings else []),
    ]
    others = tree.marked - tree.findings
    more = "more " if tree.findings else ""
    return ", ".join([*parts, *([f"{others:,} {more}unexpected"] if others else [])])


def _notes(forest: Forest, rest: Sequence[GrownTree]) -> list[str]:
    notes = []
    if rest:
        programs = _plural(sum(len(tree.nodes) for tree in rest), "program")
        marked = sum(tree.marked for tree in rest)
        notes.append(
            f"Not shown: {_plural(len(rest), 'further tree')} with {programs}, of which "
            f"{marked:,} had an unexpected outcome."
        )
    if forest.dropped_trees:
        notes.append(
            f"Dropped to limit memory: {_plural(forest.dropped_trees, 'tree')} with "
            f"{_plural(forest.dropped_nodes, 'program')}. None had an unexpected outcome."
        )
    if forest.unmarked:
        notes.append(f"Not shown in the trees: {_plural(forest.unmarked, 'finding')} more.")
    if forest.alone:
        notes.append(
            f"In no tree: {_plural(forest.alone, 'finding')} about blocks that ran on their own."
        )
    return notes


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _legend() -> list[tuple[Markup, str]]:
    return [
        (sample(None), "template"),
        *((sample(ended), WORDS[ended]) for ended in NodeOutcome),
        (sample(NodeOutcome.FAILED, is_finding=True), "with a ring: a finding; opens its diff"),
    ]
