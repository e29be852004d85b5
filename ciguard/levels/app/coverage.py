"""Coverage of a run over applications: an unseen known bucket within it counts as gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.levels.app.dead_conditions import can_prove
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
    from ciguard.levels.app.accuracy import Assessed
    from ciguard.levels.app.applications import ReadApplication


@dataclass(slots=True)
class Coverage:
    """Files and functions that were read, and sub-conditions that were judged."""

    config: Config
    _judged: set[tuple[str, str, str, str]] = field(default_factory=set)
    """Judged sub-conditions: target, kind, file or function, and sub-condition."""
    _files: set[str] = field(default_factory=set)
    """Names of the files that were read."""
    _present: set[str] = field(default_factory=set)
    """Names of the present functions that call services."""

    def add(self, read: ReadApplication) -> None:
        """Add the files and functions of an application."""
        targeted = TargetedApplication(root=read.root, library="", target="")
        self._files |= {targeted.path(module.file) for module in read.application.modules}
        self._present |= {read.api(function) for function in read.functions}

    def add_judged(self, assessed: Assessed, targeted: TargetedApplication) -> None:
        """Add the sub-conditions that had enough inputs for a verdict."""
        self._judged |= set(_judged(assessed, targeted))

    def is_known(self, case: AppCase) -> bool:
        """Return whether the files of a case were read or no longer exist."""
        files = {case.file, case.api.partition(":")[0]}
        return all(file in self._files or not Path(file).exists() for file in files)

    def has_judged(self, record: BaselineRecord, case: AppCase, target: str) -> bool:
        """Return whether the sub-condition of a case was judged or no longer exists."""
        kind = record.representative.kind
        if not self.is_known(case):
            return False
        if kind == UNKNOWN_LABEL and not self.config[LABELS]:
            return False
        if kind == CONTRADICTION and not can_prove():
            return False
        if case.aspect is Aspect.CONDITION or case.api not in self._present:
            return self.config.shard.index == 1
        place = case.api if kind == CRASH else case.file
        return (target, kind, place, case.condition) in self._judged


def _judged(
    assessed: Assessed, targeted: TargetedApplication
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the sub-conditions that had enough inputs for a verdict."""
    for verdict in assessed.verdicts:
        goal = verdict.goal
        if not verdict.is_simulated:
            condition = condition_text(goal.text, goal.branch.condition)
            yield targeted.target, kind_of(verdict), targeted.path(goal.branch.file), condition
    if assessed.trials and not assessed.problem:
        yield targeted.target, CRASH, targeted.api(assessed.explored.function), ANY_INPUT
