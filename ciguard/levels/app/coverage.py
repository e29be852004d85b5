"""Coverage of a run over applications: known buckets within it that did not recur are gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.levels.app.dead_conditions import has_solver
from ciguard.levels.app.findings import (
    ANY_INPUT,
    CONTRADICTION,
    CRASH,
    UNKNOWN_LABEL,
    TargetedApplication,
    condition_text,
    kind_of,
)
from ciguard.levels.app.settings import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.baseline import BaselineRecord
    from ciguard.config import Config
    from ciguard.levels.app.accuracy import Assessment
    from ciguard.levels.app.applications import AnalysedApplication


@dataclass(slots=True)
class Coverage:
    """Files and functions that a run read, and sub-conditions that it judged."""

    config: Config
    _judged_conditions: set[tuple[str, str, str, str]] = field(default_factory=set)
    """Judged sub-conditions, as (target, kind of finding, file or function, text)."""
    _files: set[str] = field(default_factory=set)
    """Files that were read, by path relative to the current folder."""
    _functions: set[str] = field(default_factory=set)
    """Functions that call services, by their names in reports."""

    def add(self, app: AnalysedApplication) -> None:
        """Add the files and functions of an application."""
        targeted = TargetedApplication(root=app.root, library="", target="")
        self._files |= {targeted.path(module.file) for module in app.application.modules}
        self._functions |= {app.api(function) for function in app.functions}

    def add_verdicts(self, assessment: Assessment, targeted: TargetedApplication) -> None:
        """Add the sub-conditions that had enough inputs for a verdict."""
        self._judged_conditions |= set(_judged_conditions(assessment, targeted))

    def has_read_files(self, case: AppCase) -> bool:
        """Return whether the files of a case were read or no longer exist."""
        files = {case.file, case.api.partition(":")[0]}
        return all(file in self._files or not Path(file).exists() for file in files)

    def has_judged(self, record: BaselineRecord, case: AppCase, target: str) -> bool:
        """Return whether the sub-condition of a case was judged or no longer exists."""
        kind = record.representative.kind
        if not self.has_read_files(case):
            return False
        if kind == UNKNOWN_LABEL and not self.config[LABELS]:
            return False
        if kind == CONTRADICTION and not has_solver():
            return False
        if case.aspect is Aspect.CONDITION or case.api not in self._functions:
            return self.config.shard.index == 1
        place = case.api if kind == CRASH else case.file
        return (target, kind, place, case.condition) in self._judged_conditions


def _judged_conditions(
    assessment: Assessment, targeted: TargetedApplication
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the entries of `Coverage` for sub-conditions that had enough inputs for a verdict."""
    for verdict in assessment.verdicts:
        goal = verdict.goal
        if not verdict.is_simulated:
            condition = condition_text(goal.text, goal.branch.condition)
            yield targeted.target, kind_of(verdict), targeted.path(goal.branch.file), condition
    if assessment.trials and not assessment.problem:
        yield targeted.target, CRASH, targeted.api(assessment.explored.function), ANY_INPUT
