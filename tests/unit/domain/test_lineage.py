from __future__ import annotations

from dataclasses import replace

import pytest
from tree_examples import step

from ciguard.domain.lineage import NodeOutcome, lineage, root_of
from ciguard.domain.programs import Ancestry, Derivation, Operator

CONV, ACT = step("conv1", "torch.nn.Conv3d"), step("act1")


def nodes(*path: Derivation, seed: str = "lenet", tree: int = 0) -> list[str]:
    return [member.node for member in lineage(Ancestry(seed=seed, path=path, tree=tree))]


def test_a_program_s_lineage_begins_with_that_of_its_parent() -> None:
    parent, child = nodes(CONV), nodes(CONV, ACT)

    assert child[:-1] == parent
    assert len({*parent, *child, root_of(Ancestry(seed="lenet"))}) == 3


def test_lines_and_adapters_do_not_say_who_a_node_is() -> None:
    later = replace(CONV, line=0, adapter="x = x.flatten(1)")

    assert nodes(CONV, ACT) == nodes(later, ACT)


def test_all_steps_of_one_block_are_one_node() -> None:
    forbidden = replace(ACT, operator=Operator.BOUNDARY, parameter="alpha", before="1", after="-1")

    line = lineage(Ancestry(seed="lenet", path=(CONV, ACT, forbidden)))

    assert len(line) == 2
    assert line[-1].step == forbidden
    assert [member.node for member in line] != nodes(CONV, ACT)
    assert line[0].node == nodes(CONV)[0]


def test_trees_and_seeds_have_nodes_of_their_own() -> None:
    every = [nodes(CONV), nodes(CONV, tree=1), nodes(CONV, seed="vgg19")]

    assert len({node for (node,) in every}) == 3


@pytest.mark.parametrize(
    ("made", "label"),
    [
        (step("conv2", "torch.nn.Conv3d"), "AR conv2: ReLU → Conv3d"),
        (
            replace(
                step("c"), operator=Operator.GENERATION, parameter="stride", before="1", after="3"
            ),
            "RG c: Hardswish stride: 1 → 3",
        ),
        (
            replace(step("c"), operator=Operator.BOUNDARY, parameter="p", before="", after="-1"),
            "BC c: Hardswish p: not given → -1",
        ),
        (step("c", operator=Operator.NONE), "c: as in the seed"),
    ],
)
def test_a_label_says_in_a_few_words_what_was_done(made: Derivation, label: str) -> None:
    assert made.label == label


def test_a_label_is_short_whatever_the_values_are() -> None:
    made = step("b" * 999, operator=Operator.GENERATION, parameter="p" * 999, after="9" * 99_999)

    assert len(made.label) <= 320


def test_what_ends_wrong_is_what_breaks_the_promise() -> None:
    assert {ended for ended in NodeOutcome if ended.is_wrong} == {
        NodeOutcome.FAILED,
        NodeOutcome.ACCEPTED,
    }
