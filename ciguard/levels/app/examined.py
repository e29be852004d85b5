"""What was looked at of applications: a known bucket that was not met there is gone."""

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
    Applied,
    condition_words,
    kind_of,
)
from ciguard.levels.app.settings import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.baseline import BaselineRecord
    from ciguard.config import Config
    from ciguard.levels.app.accuracy import Assessed
    from ciguard.levels.app.reading import ReadApplication


@dataclass(slots=True)
class Examined:
    """Files and functions that were read, and sub-conditions that were judged."""

    config: Config
    _judged: set[tuple[str, str, str, str]] = field(default_factory=set)
    """Target, kind, file or function, and sub-condition: what inputs were enough to judge."""
    _files: set[str] = field(default_factory=set)
    """That were read."""
    _present: set[str] = field(default_factory=set)
    """Functions that there are."""

    def note(self, read: ReadApplication) -> None:
        """Note the files and functions of an application."""
        at = Applied(root=read.root, library="", target="")
        self._files |= {at.path(one.file) for one in read.application.modules}
        self._present |= {read.api(one) for one in read.found}

    def note_judged(self, assessed: Assessed, at: Applied) -> None:
        """Note what a function's inputs were enough to judge."""
        self._judged |= set(_judged(assessed, at))

    def is_known(self, case: AppCase) -> bool:
        """Return whether the files of a case were read, or are there no more."""
        files = {case.file, case.api.partition(":")[0]}
        return all(file in self._files or not Path(file).exists() for file in files)

    def has_looked_at(self, record: BaselineRecord, case: AppCase, target: str) -> bool:
        """Return whether the sub-condition of a case was looked at, or is there no more."""
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


def _judged(assessed: Assessed, at: Applied) -> Iterator[tuple[str, str, str, str]]:
    """Yield what a function's inputs were enough to judge."""
    for verdict in assessed.verdicts:
        goal = verdict.goal
        if not verdict.is_simulated:
            condition = condition_words(goal.text, goal.branch.condition)
            yield at.target, kind_of(verdict), at.path(goal.branch.file), condition
    if assessed.trials and not assessed.problem:
        yield at.target, CRASH, at.api(assessed.explored.found), ANY_INPUT
