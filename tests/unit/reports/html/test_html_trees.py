from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import BOUND, HOSTILE
from tree_examples import found, program, program_ran, step

from ciguard.domain.lineage import NodeOutcome
from ciguard.reports.html import trees as module
from ciguard.reports.html.forest import DerivationTree, Forest
from ciguard.reports.html.tree_layout import MAX_MARKED, MAX_WIDTH, Sign, layout
from ciguard.reports.html.trees import MAX_TREES, ForestView, forest_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.findings import Bucket
    from ciguard.domain.programs import ProgramCase

SVG = ("svg", "g", "a", "path", "circle", "polygon", "text", "title")


def case(*names: str, tree: int = 0) -> ProgramCase:
    """Return a program; all nodes of a depth have one block, named by its depth."""
    steps = (step(f"b{depth}", f"torch.nn.{name}") for depth, name in enumerate(names))
    return program(*steps, tree=tree)


def grown(cases: Iterable[ProgramCase], *, wrong: Iterable[ProgramCase] = ()) -> Forest:
    forest = Forest()
    for one in cases:
        forest.add(program_ran(one))
    for one in wrong:
        forest.add(program_ran(one, NodeOutcome.FAILED))
    return forest


def only(forest: Forest) -> DerivationTree:
    (tree,) = forest.trees()
    return tree


def shown(forest: Forest, *buckets: Bucket) -> ForestView:
    made = forest_view(forest, buckets)
    assert made is not None
    return made


def names_at(root: Sign, depth: int) -> list[str]:
    return [
        one.node.step.rpartition(" ")[2] for one in root.walk() if one.node and one.depth == depth
    ]


def test_node_is_above_the_middle_of_its_children() -> None:
    tree = only(grown([case("A"), case("B"), *(case("A", name) for name in "CDE")]))

    made = layout(tree)

    first, second = made.root.children
    assert [sign.depth for sign in made.root.walk()] == [0, 1, 2, 2, 2, 1]
    assert [child.x for child in first.children] == [0.0, 1.0, 2.0]
    assert (first.x, second.x, made.root.x) == (1.0, 2.0, 1.5)
    assert (made.width, made.depth, made.is_folded) == (3, 2, False)


def test_deep_subtree_is_not_shifted_by_a_leaf() -> None:
    wide = [case("A", "B", name) for name in "CDEFG"]
    tree = only(grown([case("A"), case("A", "B"), *wide, *(case(name) for name in "HIJ")]))

    assert layout(tree).width == 6  # not 8: the leaves of two rows stand above each other


@given(st.data())
def test_signs_do_not_overlap_and_rows_are_depths(data: st.DataObject) -> None:
    paths: list[tuple[str, ...]] = [()]
    for number in range(data.draw(st.integers(1, 60))):
        paths.append((*data.draw(st.sampled_from(paths)), str(number)))
    tree = only(grown(case(*path) for path in paths[1:]))

    made = layout(tree)

    for depth in range(made.depth + 1):
        row = sorted(sign.x for sign in made.root.walk() if sign.depth == depth)
        assert all(after - before >= 1 - 1e-9 for before, after in pairwise(row))
    places = [sign.x for sign in made.root.walk()]
    assert min(places) == pytest.approx(0)
    assert max(places) <= made.width - 1 + 1e-9
    assert sum(sign.count for sign in made.root.walk()) == len(tree.nodes) + 1


def test_wide_tree_folds_leaves_with_one_outcome_but_no_marked_nodes() -> None:
    inner = [case("A"), *(case("A", str(number)) for number in range(3 * MAX_WIDTH))]
    wrong = [case("A", "wrong"), case("A", "worse")]

    made = layout(only(grown(inner, wrong=wrong)))

    assert made.is_folded
    assert names_at(made.root, 2) == ["wrong", "worse"]
    assert [sign.count for sign in made.root.walk() if sign.count > 1] == [3 * MAX_WIDTH]
    assert made.width == 3


def test_too_wide_tree_shows_only_branches_with_marked_nodes() -> None:
    inner = [
        path
        for number in range(2 * MAX_WIDTH)
        for path in (case(f"n{number}"), case(f"n{number}", "B"))
    ]

    made = layout(only(grown(inner, wrong=[case("n7", "wrong")])))

    assert names_at(made.root, 1) == ["n7"]
    assert names_at(made.root, 2) == ["wrong"]
    assert sorted(sign.count for sign in made.root.walk()) == [1, 1, 1, 1, 4 * MAX_WIDTH - 2]


def test_marked_nodes_beyond_the_limit_are_counted_and_findings_are_drawn_first() -> None:
    wrong = [case(f"w{number}") for number in range(MAX_MARKED + 20)]
    forest = grown([], wrong=wrong)
    forest.mark(found(wrong[-1]))

    made = layout(only(forest))

    drawn = names_at(made.root, 1)
    assert len(drawn) == MAX_MARKED
    assert f"w{MAX_MARKED + 19}" in drawn
    assert made.left_out == 20


def test_nodes_with_unknown_parents_are_below_the_template() -> None:
    made = layout(only(grown([case("A"), case("gone", "gone", "C")])))

    assert [(sign.depth, sign.is_cut_off) for sign in made.root.children] == [(1, False), (3, True)]
    assert "edge cut-off" in drawings(grown([case("A"), case("gone", "gone", "C")]))


def drawings(forest: Forest) -> str:
    return "".join(str(tree.drawing) + str(tree.gutter) for tree in shown(forest).trees)


def test_a_finding_is_ringed_red_and_leads_to_its_diff() -> None:
    met = case("A", "B")
    section = shown(
        grown([case("A"), met, case("A", "C")]), found(met, says="it cannot be trained")
    )

    (tree,) = section.trees
    (derived,) = tree.derived_programs
    svg = ET.fromstring(tree.drawing)
    (link,) = svg.findall("a")
    assert link.get("href") == f"#derived-{derived.node}"
    assert link.get("class") == "sign failed finding"
    assert len([c for c in link.findall("circle") if c.get("class") == "ring"]) == 1
    assert derived.earlier_steps == ("AR b0: ReLU → A",)
    assert derived.finding is not None
    assert derived.finding.message == "it cannot be trained"
    assert derived.finding.address == "#v1%3A0000000100000000"
    assert [text for _, text, is_call in derived.lines if is_call] == [
        "+    nn.Hardswish(inplace=True),"
    ]
    assert tree.summary == "3 programs, 2 blocks deep, 1 finding"
    assert section.nodes == {"v1:0000000100000000": derived.node}


def test_every_outcome_has_its_own_shape() -> None:
    forest = Forest()
    for number, ended in enumerate(NodeOutcome):
        forest.add(program_ran(case(f"n{number}"), ended))

    svg = ET.fromstring(drawings(forest).partition("</svg>")[0] + "</svg>")

    forms = set()
    for sign in (*svg.findall("g"), *svg.findall("a")):
        shape = next(
            part for part in sign if part.tag in {"circle", "polygon"} and not part.get("class")
        )
        forms.add((shape.tag, len((shape.get("points") or "").split()), sign.get("class")))
    assert {(tag, corners) for tag, corners, _ in forms} == {
        ("circle", 0),  # ran is filled, refused is hollow: by its class
        ("polygon", 3),
        ("polygon", 4),
    }
    assert {style for *_, style in forms} == {
        "sign rest",
        *(f"sign {ended}" for ended in NodeOutcome),
    }


def test_names_and_labels_stay_text() -> None:
    hostile = program(
        step(HOSTILE, HOSTILE), seed=HOSTILE, source=f"x = 1\n{HOSTILE}\n", api=HOSTILE
    )
    forest = grown([], wrong=[hostile])

    section = shown(forest, found(hostile, says=HOSTILE))

    (tree,) = section.trees
    for drawing in (tree.drawing, tree.gutter):
        elements = list(ET.fromstring(drawing).iter())
        assert {part.tag for part in elements} <= set(SVG)
        assert not any(name.startswith("on") for part in elements for name in part.attrib)
    assert BOUND in tree.drawing
    assert "\x1b" not in tree.heading + tree.drawing


def test_drawn_trees_are_limited_and_those_with_findings_come_first() -> None:
    last = MAX_TREES + 4
    forest = grown(case("A", tree=number) for number in range(last + 1))

    section = shown(forest, found(case("A", tree=last)))

    assert len(section.trees) == MAX_TREES
    assert section.trees[0].heading == f"lenet, tree {last + 1}"
    assert section.notes == [
        "Not shown: 5 further trees with 5 programs, of which 0 had an unexpected outcome."
    ]


def test_diffs_are_limited_together_and_nodes_without_diff_are_not_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_DIFFS_LIMIT", 400)

    (tree,) = shown(grown([], wrong=[case(name) for name in "ABC"])).trees

    assert len(tree.derived_programs) == 2
    assert str(tree.drawing).count("<a ") == 2


def test_a_run_without_programs_has_no_trees() -> None:
    assert forest_view(Forest(), []) is None
