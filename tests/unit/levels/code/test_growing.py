"""Events for nodes of derivation trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from program_examples import ran
from tree_examples import LINE, PARENT, PROGRAM, program, step

from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.intent import Intent
from ciguard.domain.lineage import NodeOutcome, lineage, root_of
from ciguard.domain.outcomes import Crashed, Errored, Hung, Rejected
from ciguard.domain.programs import Ancestry, ProgramCase
from ciguard.levels.code.growing import node_outcome, programs_of

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Outcome

POSITIVE = program(step("conv1"), step("act1"))
NEGATIVE = replace(POSITIVE, intent=Intent.VIOLATING)
REFUSED = Rejected("ValueError", "line 7: no")


def executed(*cases: ProgramCase, **outcomes: tuple[Outcome, ...]) -> ExecutedBatch:
    return ExecutedBatch("torch", cases, outcomes)


@pytest.mark.parametrize(
    ("case", "row", "ended"),
    [
        (POSITIVE, [ran()], NodeOutcome.RAN),
        (POSITIVE, [ran(), ran()], NodeOutcome.RAN),
        (POSITIVE, [ran(), REFUSED], NodeOutcome.FAILED),
        (POSITIVE, [REFUSED], NodeOutcome.FAILED),
        (NEGATIVE, [REFUSED], NodeOutcome.REFUSED),
        (NEGATIVE, [ran(block="ValueError")], NodeOutcome.REFUSED),
        (NEGATIVE, [ran(block="ValueError"), REFUSED], NodeOutcome.REFUSED),
        (NEGATIVE, [ran()], NodeOutcome.ACCEPTED),
        (NEGATIVE, [REFUSED, ran()], NodeOutcome.ACCEPTED),
        (NEGATIVE, [REFUSED, Crashed("SIGSEGV")], NodeOutcome.FAILED),
        (POSITIVE, [Hung(10.0)], NodeOutcome.FAILED),
        (POSITIVE, [Errored("SystemError", "INTERNAL ASSERT")], NodeOutcome.FAILED),
    ],
)
def test_the_outcome_of_a_node_covers_all_targets(
    case: ProgramCase, row: list[Outcome], ended: NodeOutcome
) -> None:
    assert node_outcome(case, row) is ended


def test_the_event_of_a_node_has_its_parent_and_last_step() -> None:
    (event,) = programs_of(executed(POSITIVE, one=(ran(),)))

    first, last = lineage(POSITIVE.ancestry)
    assert (event.node, event.parent) == (last.node, first.node)
    assert (event.seed, event.tree, event.depth, event.block) == ("lenet", 0, 2, "act1")
    assert event.step == "AR act1: ReLU → Hardswish"
    assert (event.program, event.before) == ("", "")


def test_the_parent_of_a_first_block_is_the_template() -> None:
    case = program(step("conv1"), tree=3)

    (event,) = programs_of(executed(case, one=(ran(),)))

    assert event.parent == root_of(Ancestry(seed="lenet", tree=3))
    assert (event.tree, event.depth) == (3, 1)


def test_the_event_of_a_failed_node_has_both_programs() -> None:
    (event,) = programs_of(executed(POSITIVE, one=(REFUSED,)))

    assert (event.program, event.before, event.line) == (PROGRAM, PARENT, LINE)


def test_single_blocks_repetitions_and_seeds_are_no_nodes() -> None:
    others = (
        replace(POSITIVE, block=""),
        replace(POSITIVE, cycles=40),
        replace(POSITIVE, ancestry=Ancestry(seed="lenet")),
    )

    assert list(programs_of(executed(*others, one=(ran(),) * 3))) == []


def test_cases_that_did_not_run_have_no_event() -> None:
    assert list(programs_of(executed(POSITIVE, one=()))) == []
