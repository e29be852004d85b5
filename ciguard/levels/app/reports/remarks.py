"""Annotations of pull requests at lines of an application that calls cognitive services."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.plan import Place
from ciguard.domain.remarks import Remark, RemarkLevel
from ciguard.domain.text import visible
from ciguard.levels.app.reports.wording import counted
from ciguard.reports import fenced, workflow_commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.levels.app.accuracy import Assessment
    from ciguard.levels.app.dead_conditions import DeadCondition
    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.static_analysis import Application

_MAX_MESSAGE_LENGTH = 1500


class AppRemarks:
    """Remarks that are collected while a command prints; both form the log of a GitHub step."""

    def __init__(self, application: Application) -> None:
        """Create an empty collection.

        Args:
            application: the application, whose files are named relative to the current folder.
        """
        current_folder, root = Path.cwd(), application.root.resolve()
        self._folder = (
            root.relative_to(current_folder) if root.is_relative_to(current_folder) else Path()
        )
        self._remarks: list[Remark] = []

    def add_dead_conditions(self, dead: Iterable[DeadCondition]) -> None:
        """Add remarks on dead sub-conditions."""
        for condition in dict.fromkeys(dead):
            proposals = (
                f" Perhaps: {', '.join(condition.proposals)}." if condition.proposals else ""
            )
            message = f"{condition.text}: {condition.reason}.{proposals}"
            branch = condition.branch
            self._add(RemarkLevel.WARNING, branch.file, branch.line, "Dead condition", message)

    def add_exploration(self, explored: ExploredFunction) -> None:
        """Add remarks on stub responses that make a function fail."""
        for crash in explored.crashes:
            message = f"{crash.error} when {'; '.join(crash.titles)}"
            self._add(RemarkLevel.ERROR, crash.file, crash.line, "Fails on an answer", message)
        function = explored.function
        for hang in explored.hangs:
            message = f"{function.name} {hang.behaviour} when {'; '.join(hang.titles)}"
            self._add(RemarkLevel.ERROR, function.file, function.line, "Does not return", message)
        for name, crash in explored.uncaught_refusals.items():
            refusal = f"{name}: {crash.refusal}"
            message = f"{function.name} does not catch the service's refusal of an input: {refusal}"
            self._add(RemarkLevel.WARNING, function.file, function.line, "Refusal", message)

    def add_assessment(self, assessment: Assessment) -> None:
        """Add remarks on inaccurate sub-conditions, and on inputs and faults that cause crashes."""
        for verdict in assessment.verdicts:
            if not verdict.is_failure:
                continue
            level = RemarkLevel.ERROR if verdict.is_of_service else RemarkLevel.WARNING
            suggestion = "" if verdict.suggestion is None else f" {verdict.suggestion.sentence}"
            message = (
                f"{verdict.goal.text}: {verdict.claim}, answered by {verdict.engine}.{suggestion}"
            )
            branch = verdict.goal.branch
            self._add(level, branch.file, verdict.goal.line, "Low accuracy", message)
        for crash, sample in assessment.crashes:
            message = f"{crash.error} with {sample.origin}"
            self._add(RemarkLevel.ERROR, crash.file, crash.line, "Fails on an input", message)
        for uncaught in assessment.robustness.uncaught.values() if assessment.robustness else ():
            level = RemarkLevel.ERROR if uncaught.crash.is_judged else RemarkLevel.WARNING
            message = (
                f"{uncaught.crash.error} in {counted(uncaught.calls, 'call')} with injected faults"
            )
            self._add(level, uncaught.crash.file, uncaught.crash.line, "Fails on a fault", message)

    def _add(self, level: RemarkLevel, file: str, line: int, title: str, message: str) -> None:
        place = Place(path=(self._folder / file).as_posix(), line=max(line, 1))
        shown = visible(message, limit=_MAX_MESSAGE_LENGTH)
        self._remarks.append(Remark(level=level, title=title, message=shown, place=place))

    def fenced(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines so that GitHub does not parse them for commands, then the remarks.

        Args:
            lines: the output of the command; remarks may be added while it is consumed.
        """
        yield from fenced(lines)
        yield from workflow_commands(self._remarks)
