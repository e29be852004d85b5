"""The page's section about derivation trees: drawings, and diffs of the marked nodes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from ciguard.domain.lineage import NodeOutcome
from ciguard.domain.text import visible
from ciguard.reports.html.tree_drawing import WORDS, drawing, gutter, single_sign
from ciguard.reports.html.tree_layout import layout
from ciguard.reports.wording import plural, publishable, state
from ciguard.triage import program_diff, without_local_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from ciguard.domain.findings import Bucket
    from ciguard.reports.html.forest import DerivationTree, Forest, TreeNode
    from ciguard.reports.html.tree_layout import TreeLayout
    from ciguard.triage import DiffLine

MAX_TREES = 16
MAX_SYMBOLS = 6_000
"""Maximum number of symbols in all drawings."""
_DIFFS_LIMIT = 1 << 20
"""Maximum number of characters in all diffs."""
MAX_DIFF = 60
"""Maximum number of lines in one diff."""
_MAX_LINE = 200
_KINDS = {"+": "added", "-": "removed", "@": "place", "…": "place", " ": "kept"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingView:
    """The finding that a node shows."""

    name: str
    """Fingerprint of its bucket."""
    address: str
    """Link to the bucket on the page."""
    state: str
    """Displayed state of the bucket."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedProgram:
    """The program of a marked node, with its difference from the parent program."""

    node: str
    """Name of the node."""
    sign: Markup
    """Drawing of the node's sign."""
    step: str
    """Description of the mutation that derived the program."""
    outcome: str
    """Description of the program's outcome."""
    earlier_steps: tuple[str, ...]
    """Descriptions of the mutations from the template to the parent program."""
    lines: list[tuple[str, str, bool]]
    """Lines of the diff in the form of `diff_lines`; empty if the parent is unknown."""
    finding: FindingView | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeView:
    """The texts and drawings of one tree on the page."""

    heading: str
    summary: str
    notes: list[str]
    gutter: Markup
    drawing: Markup
    derived_programs: list[DerivedProgram]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestView:
    """The texts and drawings of the section about derivation trees."""

    trees: list[TreeView]
    legend: list[tuple[Markup, str]]
    notes: list[str]

    @property
    def nodes(self) -> dict[str, str]:
        """Fingerprint of a bucket → its node on the page."""
        derived_programs = chain.from_iterable(tree.derived_programs for tree in self.trees)
        return {node.finding.name: node.node for node in derived_programs if node.finding}


def forest_view(forest: Forest, buckets: Sequence[Bucket]) -> ForestView | None:
    """Return the section about the trees; None if no program was derived.

    Args:
        forest: the trees of the run; the nodes of findings are marked in it.
        buckets: the buckets of the run.
    """
    for bucket in buckets:
        forest.mark(bucket)
    trees = forest.trees()
    if not trees:
        return None
    shown: list[TreeView] = []
    symbols_left, characters_left = MAX_SYMBOLS, _DIFFS_LIMIT
    for tree in trees[:MAX_TREES]:
        tree_layout = layout(tree)
        symbols_left -= sum(1 for _ in tree_layout.root.walk())
        if symbols_left < 0 and shown:
            break
        derived_programs = _derived_programs(tree, tree_layout, characters_left)
        characters_left -= sum(len(text) for node in derived_programs for _, text, _ in node.lines)
        shown.append(_tree_view(tree, tree_layout, derived_programs))
    return ForestView(trees=shown, legend=_legend(), notes=_notes(forest, trees[len(shown) :]))


def _derived_programs(
    tree: DerivationTree, tree_layout: TreeLayout, characters_left: int
) -> list[DerivedProgram]:
    """Return the marked nodes that are drawn, findings first, as far as their diffs fit.

    Args:
        tree: the tree.
        tree_layout: its layout.
        characters_left: the maximum number of characters in the diffs.
    """
    nodes = [sign.node for sign in tree_layout.root.walk() if sign.node and sign.node.is_marked]
    derived_programs = []
    for node in sorted(nodes, key=lambda node: (node.bucket is None, node.depth)):
        lines = diff_lines(_diff(node))
        characters_left -= sum(len(text) for _, text, _ in lines)
        if characters_left < 0:
            break
        derived_programs.append(
            DerivedProgram(
                node=node.node,
                sign=single_sign(node.outcome, is_finding=node.bucket is not None),
                step=publishable(node.step, limit=_MAX_LINE),
                outcome=WORDS[node.outcome],
                earlier_steps=_earlier_steps(tree, node),
                lines=lines,
                finding=_finding(node.bucket),
            )
        )
    return derived_programs


def _diff(node: TreeNode) -> list[DiffLine]:
    """Return the difference of a node's program from its parent; empty if it is unknown."""
    if node.programs is None or not node.programs.before:
        return []
    programs = node.programs
    return program_diff(programs.before, programs.program, line=programs.line, max_lines=MAX_DIFF)


def diff_lines(lines: Sequence[DiffLine]) -> list[tuple[str, str, bool]]:
    """Return class and text of each line, and whether the mutated call starts there."""
    return [
        (
            _KINDS[line.kind.value],
            visible(without_local_paths(str(line)), limit=_MAX_LINE),
            line.is_changed_call,
        )
        for line in lines
    ]


def _earlier_steps(tree: DerivationTree, node: TreeNode) -> tuple[str, ...]:
    """Return the mutations that derived the parent program, the first one first."""
    steps: list[str] = []
    parent = tree.nodes.get(node.parent)
    while parent is not None:
        steps.append(publishable(parent.step, limit=_MAX_LINE))
        parent = tree.nodes.get(parent.parent)
    return tuple(steps[::-1])


def _finding(bucket: Bucket | None) -> FindingView | None:
    """Return the finding of a bucket for the page; None without a bucket."""
    if bucket is None:
        return None
    name = publishable(bucket.fingerprint, limit=40)
    return FindingView(
        name=name,
        address=f"#{quote(name, safe='')}",
        state=state(bucket),
        message=publishable(bucket.finding.message, limit=240),
    )


def _tree_view(
    tree: DerivationTree, tree_layout: TreeLayout, derived_programs: list[DerivedProgram]
) -> TreeView:
    """Return the texts and drawings of a tree."""
    heading = f"{publishable(tree.seed, limit=80)}, tree {tree.number + 1}"
    summary = _size_text(tree)
    notes = []
    if tree_layout.is_folded:
        notes.append(
            "A symbol with a number stands for that many programs, none of which is marked."
        )
    if tree_layout.left_out:
        notes.append(
            f"Not drawn: {plural(tree_layout.left_out, 'more program')} with an unexpected outcome."
        )
    if tree.dropped:
        notes.append(f"Dropped to limit memory: {plural(tree.dropped, 'program')} more.")
    linked = {node.node for node in derived_programs}
    return TreeView(
        heading=heading,
        summary=summary,
        notes=notes,
        gutter=gutter(tree_layout, tree.blocks),
        drawing=drawing(tree_layout, linked, label=f"Derivation tree of {heading}: {summary}"),
        derived_programs=derived_programs,
    )


def _size_text(tree: DerivationTree) -> str:
    """Return a phrase with the numbers of programs, blocks and findings of a tree."""
    depth = max(node.depth for node in tree.nodes.values())
    parts = [
        plural(len(tree.nodes), "program"),
        f"{plural(depth, 'block')} deep",
        *([plural(tree.finding_count, "finding")] if tree.finding_count else []),
    ]
    others = tree.marked_count - tree.finding_count
    more = "more " if tree.finding_count else ""
    return ", ".join([*parts, *([f"{others:,} {more}unexpected"] if others else [])])


def _notes(forest: Forest, hidden_trees: Sequence[DerivationTree]) -> list[str]:
    """Return sentences about trees, programs and findings that are not shown."""
    notes = []
    if hidden_trees:
        programs = plural(sum(len(tree.nodes) for tree in hidden_trees), "program")
        marked = sum(tree.marked_count for tree in hidden_trees)
        notes.append(
            f"Not shown: {plural(len(hidden_trees), 'further tree')} with {programs}, of which "
            f"{marked:,} had an unexpected outcome."
        )
    if forest.dropped_trees:
        notes.append(
            f"Dropped to limit memory: {plural(forest.dropped_trees, 'tree')} with "
            f"{plural(forest.dropped_nodes, 'program')}. None had an unexpected outcome."
        )
    if forest.findings_without_node:
        notes.append(
            f"Not shown in the trees: {plural(forest.findings_without_node, 'finding')} more."
        )
    if forest.findings_outside_trees:
        findings = plural(forest.findings_outside_trees, "finding")
        notes.append(f"In no tree: {findings} about blocks that ran by themselves.")
    return notes


def _legend() -> list[tuple[Markup, str]]:
    """Return each sign and its meaning."""
    return [
        (single_sign(None), "template"),
        *((single_sign(outcome), WORDS[outcome]) for outcome in NodeOutcome),
        (
            single_sign(NodeOutcome.FAILED, is_finding=True),
            "with a ring: a finding; opens its diff",
        ),
    ]
