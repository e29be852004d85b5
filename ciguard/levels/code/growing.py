"""What came of the programs of a batch, node by node of the derivation trees they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from ciguard.domain.events import ProgramRan
from ciguard.domain.intent import Intent
from ciguard.domain.lineage import NodeOutcome, lineage, root_of
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.programs import ProgramCase
from ciguard.levels.code.program_runs import program_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.campaign import Executed
    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome


def programs_of(executed: Executed) -> Iterator[ProgramRan]:
    """Yield what is said of each whole program; a block alone is no node, nor are cycles."""
    rows = zip(*executed.outcomes.values(), strict=True)
    for case, row in zip(executed.cases, rows, strict=False):
        if is_node(case):
            yield _of_node(case, row)


def is_node(case: Case) -> TypeGuard[ProgramCase]:
    """Return whether a case is the program of a node of a derivation tree."""
    if not isinstance(case, ProgramCase) or case.cycles > 1:
        return False
    return bool(case.block and case.ancestry.path)


def _of_node(case: ProgramCase, row: Sequence[Outcome]) -> ProgramRan:
    ancestry = case.ancestry
    line = lineage(ancestry)
    ended = ended_as(case, row)
    return ProgramRan(
        seed=ancestry.seed,
        tree=ancestry.tree,
        node=line[-1].node,
        parent=line[-2].node if len(line) > 1 else root_of(ancestry),
        block=line[-1].step.block,
        depth=len(line),
        step=line[-1].step.label,
        ended=ended,
        line=line[-1].step.line,
        program=case.source if ended.is_wrong else "",
        before=ancestry.parent if ended.is_wrong else "",
    )


def ended_as(case: ProgramCase, row: Sequence[Outcome]) -> NodeOutcome:
    """Return how a program ended on all targets together."""
    if not all(isinstance(outcome, Passed | Rejected) for outcome in row):
        return NodeOutcome.FAILED
    if case.intent is not Intent.VIOLATING:
        return (
            NodeOutcome.RAN if all(isinstance(out, Passed) for out in row) else NodeOutcome.FAILED
        )
    runs = filter(None, map(program_run, row))
    return NodeOutcome.ACCEPTED if any(not run.block for run in runs) else NodeOutcome.REFUSED
