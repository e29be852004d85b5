"""Events with the results of a batch's programs, each a node of a derivation tree."""

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

    from ciguard.campaign import ExecutedBatch
    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome


def programs_of(executed: ExecutedBatch) -> Iterator[ProgramRan]:
    """Yield an event for each program that is a node; blocks alone and repeated runs are none."""
    rows = zip(*executed.outcomes.values(), strict=True)
    for case, row in zip(executed.cases, rows, strict=False):
        if is_node(case):
            yield _event_of(case, row)


def is_node(case: Case) -> TypeGuard[ProgramCase]:
    """Return whether a case is the whole program of a node in a derivation tree."""
    if not isinstance(case, ProgramCase) or case.cycles > 1:
        return False
    return bool(case.block and case.ancestry.path)


def _event_of(case: ProgramCase, row: Sequence[Outcome]) -> ProgramRan:
    ancestry = case.ancestry
    path = lineage(ancestry)
    outcome = node_outcome(case, row)
    return ProgramRan(
        seed=ancestry.seed,
        tree=ancestry.tree,
        node=path[-1].node,
        parent=path[-2].node if len(path) > 1 else root_of(ancestry),
        block=path[-1].step.block,
        depth=len(path),
        step=path[-1].step.label,
        ended=outcome,
        line=path[-1].step.line,
        program=case.source if outcome.is_wrong else "",
        before=ancestry.parent if outcome.is_wrong else "",
    )


def node_outcome(case: ProgramCase, row: Sequence[Outcome]) -> NodeOutcome:
    """Return the combined outcome of a program on all targets."""
    if not all(isinstance(outcome, Passed | Rejected) for outcome in row):
        return NodeOutcome.FAILED
    if case.intent is not Intent.VIOLATING:
        return (
            NodeOutcome.RAN if all(isinstance(out, Passed) for out in row) else NodeOutcome.FAILED
        )
    runs = filter(None, map(program_run, row))
    return NodeOutcome.ACCEPTED if any(not run.block for run in runs) else NodeOutcome.REFUSED
