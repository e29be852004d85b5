from __future__ import annotations

from dataclasses import replace

import pytest
from tree_examples import step

from ciguard.domain.lineage import NodeOutcome, lineage, root_of
from ciguard.domain.programs import Ancestry, Derivation, Operator

CONV, ACT = step("conv1", "torch.nn.Conv3d"), step("act1")


def nodes(*path: Derivation, seed: str = "lenet", tree: int = 0) -> list[str]:
    return [item.node for item in lineage(Ancestry(seed=seed, path=path, tree=tree))]


def test_lineage_of_a_program_begins_with_the_lineage_of_its_parent() -> None:
    parent, child = nodes(CONV), nodes(CONV, ACT)

    assert child[:-1] == parent
    assert len({*parent, *child, root_of(Ancestry(seed="lenet"))}) == 3


def test_node_identifier_ignores_line_and_adapter() -> None:
    later = replace(CONV, line=0, adapter="x = x.flatten(1)")

    assert nodes(CONV, ACT) == nodes(later, ACT)


def test_steps_of_one_block_form_one_node() -> None:
    forbidden = replace(ACT, operator=Operator.BOUNDARY, parameter="alpha", before="1", after="-1")

    path = lineage(Ancestry(seed="lenet", path=(CONV, ACT, forbidden)))

    assert len(path) == 2
    assert path[-1].step == forbidden
    assert [item.node for item in path] != nodes(CONV, ACT)
    assert path[0].node == nodes(CONV)[0]


def test_nodes_of_different_trees_and_seeds_differ() -> None:
    lineages = [nodes(CONV), nodes(CONV, tree=1), nodes(CONV, seed="vgg19")]

    assert len({node for (node,) in lineages}) == 3


@pytest.mark.parametrize(
    ("derivation", "label"),
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
def test_label_names_operator_block_and_change(derivation: Derivation, label: str) -> None:
    assert derivation.label == label


def test_label_of_long_values_is_shortened() -> None:
    derivation = step(
        "b" * 999, operator=Operator.GENERATION, parameter="p" * 999, after="9" * 99_999
    )

    assert len(derivation.label) <= 320


def test_is_wrong_holds_for_failed_and_accepted_only() -> None:
    assert {ended for ended in NodeOutcome if ended.is_wrong} == {
        NodeOutcome.FAILED,
        NodeOutcome.ACCEPTED,
    }
