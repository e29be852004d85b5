"""The stage of a compiler that has a defect, by bisecting its stages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.graph.defects import run_parts

if TYPE_CHECKING:
    from collections.abc import Generator

    from ciguard.domain.findings import Finding
    from ciguard.domain.graphs import GraphCase
    from ciguard.levels.graph.defects import Answers, Defect, Request


def with_stage(
    part: GraphCase, shown: Finding, defect: Defect
) -> Generator[Request, Answers, Finding]:
    """Return the finding with the first stage of the compiler that shows the defect.

    Each stage compiles more than the one before, and the last one is the whole compiler, which has
    shown the defect. So the stages are bisected. If none of those that ran showed it, the last one
    runs, too: without a stage that shows it, as if it shows only now and then, none is named.

    If the defect needs options of the compiler, they are named instead.
    """
    if part.options:
        plain = replace(part, options="")
        for _, outcomes in (yield from run_parts([plain], defect)):
            without_options = defect.shown(plain, outcomes)
            if without_options is not None:
                return (yield from with_stage(plain, without_options, defect))
        return shown
    stages = defect.mode.stages if defect.mode is not None else ()
    if not stages:
        return shown
    first, last = 0, len(stages)
    while first < last:
        middle = (first + last) // 2
        case = replace(part, runs_stage=stages[middle])
        ran = yield from run_parts([case], defect, defect.targets[-1:])
        if any(defect.shown(case, {**shown.outcomes, **outcomes}) for case, outcomes in ran):
            last = middle
        else:
            first = middle + 1
    if first == len(stages):
        return shown
    staged = replace(part, stage=stages[first])
    return defect.shown(staged, shown.outcomes) or shown
