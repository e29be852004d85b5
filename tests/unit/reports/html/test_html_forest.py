from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from finding_examples import crash
from report_examples import bucket
from tree_examples import PARENT, PROGRAM, found, program, program_ran, step

from ciguard.domain.findings import Comparison
from ciguard.domain.intent import Intent
from ciguard.domain.lineage import NodeOutcome
from ciguard.reports.html import forest as module
from ciguard.reports.html.forest import DerivationTree, Forest

if TYPE_CHECKING:
    import pytest

    from ciguard.domain.programs import ProgramCase


def case(*blocks: str, tree: int = 0) -> ProgramCase:
    """Return a program of a tree; a block is named `depth.number`."""
    return program(*(step(one.partition(".")[0], f"torch.nn.{one}") for one in blocks), tree=tree)


def grow(forest: Forest, *, tree: int, count: int, wrong: int = 0) -> None:
    """Add nodes of depth one to a tree; the last `wrong` ones have an unexpected outcome."""
    for number in range(count):
        ended = NodeOutcome.FAILED if number >= count - wrong else NodeOutcome.RAN
        forest.add(program_ran(case(f"a.{number}", tree=tree), ended))


def sizes(forest: Forest) -> dict[int, int]:
    return {tree.number: len(tree.nodes) for tree in forest.trees()}


def only(forest: Forest) -> DerivationTree:
    (tree,) = forest.trees()
    return tree


def test_trees_of_seeds_and_rounds_are_kept_apart() -> None:
    forest = Forest()
    forest.add(program_ran(case("a.1")))
    forest.add(program_ran(case("a.1", tree=1)))
    forest.add(program_ran(program(step("a"), seed="vgg19")))

    assert [(tree.seed, tree.number) for tree in forest.trees()] == [
        ("lenet", 0),
        ("vgg19", 0),
        ("lenet", 1),
    ]


def test_repeated_node_stays_marked_and_is_counted_once() -> None:
    forest = Forest()
    forest.add(program_ran(case("a.1"), NodeOutcome.FAILED))
    forest.add(program_ran(case("a.1"), NodeOutcome.RAN))

    (node,) = only(forest).nodes.values()
    assert node.outcome is NodeOutcome.FAILED
    assert node.programs is not None
    assert node.programs.before == PARENT


def test_programs_are_stored_for_marked_nodes_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_PROGRAMS", 2)
    forest = Forest()
    grow(forest, tree=0, count=5, wrong=3)

    kept = [node.programs is not None for node in only(forest).nodes.values()]
    assert kept == [False, False, True, True, False]


def test_oldest_trees_without_marked_nodes_are_dropped_first() -> None:
    forest = Forest(max_nodes=40)
    grow(forest, tree=0, count=10, wrong=1)
    grow(forest, tree=1, count=10)
    grow(forest, tree=2, count=10)
    grow(forest, tree=3, count=11)

    assert sizes(forest) == {0: 10, 2: 10, 3: 11}
    assert (forest.dropped_trees, forest.dropped_nodes) == (1, 10)


def test_branches_without_marked_nodes_are_dropped_next() -> None:
    forest = Forest(max_nodes=10)
    grow(forest, tree=0, count=5, wrong=1)
    forest.add(program_ran(case("a.0", "b.0"), NodeOutcome.FAILED))
    grow(forest, tree=1, count=5, wrong=1)

    first = next(tree for tree in forest.trees() if tree.number == 0)
    assert [node.step for node in first.nodes.values()] == [
        "AR a: ReLU → 0",
        "AR a: ReLU → 4",
        "AR b: ReLU → 0",
    ]
    assert first.dropped == 3
    assert sizes(forest) == {0: 3, 1: 5}
    assert forest.dropped_trees == 0


def test_nodes_beyond_the_limit_are_only_counted() -> None:
    forest = Forest(max_nodes=10)
    grow(forest, tree=0, count=30, wrong=30)

    assert sizes(forest) == {0: 10}
    assert only(forest).dropped == 20


def test_forest_never_exceeds_its_node_limit() -> None:
    forest = Forest(max_nodes=50)
    for tree in range(100):
        grow(forest, tree=tree, count=9, wrong=tree % 5 == 0)
        assert sum(sizes(forest).values()) <= 50


def test_finding_marks_its_node_and_adds_its_program() -> None:
    met = case("a.1", "b.1")
    forest = Forest()
    forest.add(program_ran(case("a.1")))
    forest.add(program_ran(met))
    simpler = replace(
        met, source="alone", block="", ancestry=replace(met.ancestry, derived=PROGRAM)
    )

    forest.mark(found(simpler))

    first, node = only(forest).nodes.values()
    assert first.bucket is None
    assert node.bucket is not None
    assert node.outcome is NodeOutcome.FAILED
    assert node.programs is not None
    assert (node.programs.program, node.programs.before) == (PROGRAM, PARENT)
    assert (only(forest).finding_count, only(forest).marked_count) == (1, 1)


def test_finding_of_another_run_adds_its_ancestors() -> None:
    forest = Forest()
    forest.mark(found(replace(case("a.1", "b.1"), intent=Intent.VIOLATING)))

    first, node = only(forest).nodes.values()
    assert (first.parent, node.parent) == (only(forest).root, first.node)
    assert (first.outcome, node.outcome) == (NodeOutcome.RAN, NodeOutcome.ACCEPTED)
    assert only(forest).blocks == {1: "a", 2: "b"}


def test_findings_about_blocks_alone_are_counted_and_those_about_calls_are_not() -> None:
    met = case("a.1")
    forest = Forest()
    forest.mark(found(replace(met, block="", ancestry=replace(met.ancestry, parent=""))))
    forest.mark(found(replace(met, cycles=40)))
    forest.mark(bucket(1, crash()))

    assert forest.trees() == []
    assert forest.findings_outside_trees == 2


def test_bucket_that_is_not_reproduced_is_in_no_tree() -> None:
    forest = Forest()
    forest.mark(found(case("a.1"), comparison=Comparison.NOT_RUN, count=0))

    assert forest.trees() == []


def test_finding_with_a_too_long_path_is_not_marked() -> None:
    forest = Forest()
    forest.mark(found(program(*(step(f"block{number}") for number in range(5_000)))))

    assert forest.trees() == []
    assert forest.findings_without_node == 1
