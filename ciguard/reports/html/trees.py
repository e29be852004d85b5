"""What the page shows of derivation trees: drawings, and what each marked node has otherwise."""

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
"""Of all drawings together."""
_DIFFS_LIMIT = 1 << 20
"""Characters of all diffs together."""
MAX_DIFF = 60
"""Lines of one diff."""
_MAX_LINE = 200
_KINDS = {"+": "added", "-": "removed", "@": "place", "…": "place", " ": "kept"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """The bucket that a node belongs to."""

    name: str
    address: str
    state: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A marked node: what it has otherwise than its parent."""

    node: str
    sign: Markup
    step: str
    ended: str
    way: tuple[str, ...]
    """Steps from the template to its parent."""
    lines: list[tuple[str, str, bool]]
    """(class, text, whether the mutated call begins there); empty where the parent is unknown."""
    finding: ShownFinding | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTree:
    """One tree."""

    heading: str
    says: str
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
        """Return the node on the page by the name of its bucket."""
        every = chain.from_iterable(tree.derived for tree in self.trees)
        return {one.finding.name: one.node for one in every if one.finding}


def shown_forest(forest: Forest, buckets: Sequence[Bucket]) -> ShownForest | None:
    """Return what is shown of the trees; None where no program was derived.

    Args:
        forest: what was heard of nodes; findings are marked in it.
        buckets: of the run.
    """
    for bucket in buckets:
        forest.mark(bucket)
    trees = forest.trees()
    if not trees:
        return None
    shown: list[ShownTree] = []
    signs_left, room = MAX_SIGNS, _DIFFS_LIMIT
    for tree in trees[:MAX_TREES]:
        laid_out = layout(tree)
        signs_left -= sum(1 for _ in laid_out.root.every())
        if signs_left < 0 and shown:
            break
        derived = _derived(tree, laid_out, room)
        room -= sum(len(text) for one in derived for _, text, _ in one.lines)
        shown.append(_shown(tree, laid_out, derived))
    return ShownForest(trees=shown, legend=_legend(), notes=_notes(forest, trees[len(shown) :]))


def _derived(tree: GrownTree, laid_out: TreeLayout, room: int) -> list[Derived]:
    """Return the marked nodes that are drawn, findings first, as long as there is room."""
    nodes = [sign.node for sign in laid_out.root.every() if sign.node and sign.node.is_marked]
    found = []
    for node in sorted(nodes, key=lambda node: (node.bucket is None, node.depth)):
        lines = diff_lines(_diff(node))
        room -= sum(len(text) for _, text, _ in lines)
        if room < 0:
            break
        found.append(
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
    return found


def _diff(node: TreeNode) -> list[DiffLine]:
    if node.programs is None or not node.programs.before:
        return []
    told = node.programs
    return program_diff(told.before, told.program, line=told.line, most=MAX_DIFF)


def diff_lines(lines: Sequence[DiffLine]) -> list[tuple[str, str, bool]]:
    """Return a diff as the page shows it: (class, text, whether the mutated call begins there)."""
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
        says=publishable(bucket.finding.message, limit=240),
    )


def _shown(tree: GrownTree, laid_out: TreeLayout, derived: list[Derived]) -> ShownTree:
    heading = f"{publishable(tree.seed, limit=80)}, tree {tree.number + 1}"
    says = _counted(tree)
    notes = []
    if laid_out.is_folded:
        notes.append("A sign with a number stands for so many programs: nothing marked follows.")
    if laid_out.left_out:
        notes.append(f"Not drawn by themselves: {laid_out.left_out:,} more that ended wrong.")
    if tree.dropped:
        notes.append(f"Not kept while the run went on: {_plural(tree.dropped, 'program')} more.")
    opens = {one.node for one in derived}
    return ShownTree(
        heading=heading,
        says=says,
        notes=notes,
        gutter=gutter(laid_out, tree.blocks),
        drawing=drawing(laid_out, opens, label=f"Derivation tree of {heading}: {says}"),
        derived=derived,
    )


def _counted(tree: GrownTree) -> str:
    deepest = max(node.depth for node in tree.nodes.values())
    parts = [
        _plural(len(tree.nodes), "program"),
        f"{_plural(deepest, 'block')} deep",
        *([_plural(tree.findings, "finding")] if tree.findings else []),
    ]
    others = tree.marked - tree.findings
    more = "more " if tree.findings else ""
    return ", ".join([*parts, *([f"{others:,} {more}ended wrong"] if others else [])])


def _notes(forest: Forest, rest: Sequence[GrownTree]) -> list[str]:
    notes = []
    if rest:
        programs = _plural(sum(len(tree.nodes) for tree in rest), "program")
        marked = sum(tree.marked for tree in rest)
        notes.append(
            f"No room here for {_plural(len(rest), 'further tree')} with {programs}; "
            f"{marked:,} of those ended wrong."
        )
    if forest.dropped_trees:
        notes.append(
            f"Not kept while the run went on: {_plural(forest.dropped_trees, 'tree')} with "
            f"{_plural(forest.dropped_nodes, 'program')}. Nothing went wrong in them."
        )
    if forest.unmarked:
        notes.append(f"No room in the trees for {_plural(forest.unmarked, 'finding')} more.")
    if forest.alone:
        notes.append(
            f"In no tree: {_plural(forest.alone, 'finding')} about blocks that were run alone."
        )
    return notes


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _legend() -> list[tuple[Markup, str]]:
    return [
        (sample(None), "template"),
        *((sample(ended), WORDS[ended]) for ended in NodeOutcome),
        (sample(NodeOutcome.FAILED, is_finding=True), "ringed: a finding; opens what was changed"),
    ]
