"""Derivation trees: programs, nodes as they are heard of, findings in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from finding_examples import TARGET
from report_examples import bucket

from ciguard.domain.events import ProgramRan
from ciguard.domain.findings import Finding, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.lineage import NodeOutcome, lineage, root_of
from ciguard.domain.outcomes import Rejected
from ciguard.domain.programs import Ancestry, Derivation, Operator, ProgramCase

if TYPE_CHECKING:
    from ciguard.domain.findings import Bucket

PARENT = """\
import torch
from torch import nn

STEPS = 4
model = nn.Sequential(
    nn.Linear(6, 1),
)
"""
PROGRAM = """\
import torch
from torch import nn

STEPS = 4
model = nn.Sequential(
    nn.Linear(6, 12),
    nn.Hardswish(inplace=True),
    nn.Linear(12, 1),
)
"""
LINE = 7


def step(block: str, after: str = "torch.nn.Hardswish", **changes: object) -> Derivation:
    made = Derivation(
        block=block,
        line=LINE,
        api=after,
        operator=Operator.REPLACEMENT,
        before="torch.nn.ReLU",
        after=after,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


def program(*path: Derivation, seed: str = "lenet", tree: int = 0, **changes: Any) -> ProgramCase:
    ancestry = Ancestry(seed=seed, path=path, parent=PARENT, tree=tree)
    made = ProgramCase(api=path[-1].api, source=PROGRAM, block="import torch\n", ancestry=ancestry)
    return replace(made, **changes)


def program_ran(case: ProgramCase, ended: NodeOutcome = NodeOutcome.RAN) -> ProgramRan:
    """Return the event with which a campaign reports a program."""
    ancestry, line = case.ancestry, lineage(case.ancestry)
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


def found(case: ProgramCase, number: int = 1, *, says: str = "it fails", **changes: Any) -> Bucket:
    """Return a bucket for a program with an unexpected outcome."""
    is_negative = case.intent is Intent.VIOLATING
    finding = Finding(
        oracle="derivation",
        kind="accepted-illegal" if is_negative else "positive-failed",
        severity=Severity.MEDIUM,
        library="torch",
        api=case.api,
        case=case,
        outcomes={TARGET: Rejected("RuntimeError", "line 7: planted")},
        targets=(TARGET,),
        message=says,
    )
    return bucket(number, finding, **changes)
