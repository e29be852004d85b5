"""Annotations of pull requests at lines of an application that calls cognitive services."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.plan import Place
from ciguard.domain.remarks import Remark, RemarkLevel
from ciguard.domain.text import visible
from ciguard.reports import fenced, workflow_commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.levels.app.accuracy import Assessment
    from ciguard.levels.app.dead_conditions import DeadCondition
    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.static_analysis import Application

_MESSAGE = 1500


class AppRemarks:
    """Collects remarks while a command prints, and yields both as the log of a GitHub step."""

    def __init__(self, application: Application) -> None:
        """Compute the paths of remarks.

        Args:
            application: the application. Its paths are reported relative to the working directory.
        """
        here, root = Path.cwd(), application.root.resolve()
        self._folder = root.relative_to(here) if root.is_relative_to(here) else Path()
        self._remarks: list[Remark] = []

    def note_dead(self, dead: Iterable[DeadCondition]) -> None:
        """Add remarks on dead sub-conditions."""
        for condition in dict.fromkeys(dead):
            proposals = (
                f" Perhaps: {', '.join(condition.proposals)}." if condition.proposals else ""
            )
            message = f"{condition.text}: {condition.reason}.{proposals}"
            branch = condition.branch
            self._note(RemarkLevel.WARNING, branch.file, branch.line, "Dead condition", message)

    def note_explored(self, explored: ExploredFunction) -> None:
        """Add remarks on answers that make a function fail."""
        for crash in explored.crashes:
            message = f"{crash.error} when {'; '.join(crash.titles)}"
            self._note(RemarkLevel.ERROR, crash.file, crash.line, "Fails on an answer", message)
        function = explored.function
        for hang in explored.hangs:
            message = f"{function.name} {hang.behaviour} when {'; '.join(hang.titles)}"
            self._note(RemarkLevel.ERROR, function.file, function.line, "Does not return", message)
        for name, crash in explored.uncaught_refusals.items():
            refusal = f"{name}: {crash.refusal}"
            message = (
                f"{function.name} does not catch that the service rejects its input: {refusal}"
            )
            self._note(RemarkLevel.WARNING, function.file, function.line, "Refusal", message)

    def note_assessed(self, assessment: Assessment) -> None:
        """Add remarks on branches that miss too many of their inputs."""
        for verdict in assessment.verdicts:
            if not verdict.is_failure:
                continue
            level = RemarkLevel.ERROR if verdict.is_of_service else RemarkLevel.WARNING
            suggestion = "" if verdict.suggestion is None else f" {verdict.suggestion.sentence}"
            message = (
                f"{verdict.goal.text}: {verdict.claim}, answered by {verdict.engine}.{suggestion}"
            )
            branch = verdict.goal.branch
            self._note(level, branch.file, verdict.goal.line, "Low accuracy", message)
        for crash, sample in assessment.crashes:
            message = f"{crash.error} with {sample.origin}"
            self._note(RemarkLevel.ERROR, crash.file, crash.line, "Fails on an input", message)
        for uncaught in assessment.robustness.uncaught.values() if assessment.robustness else ():
            level = RemarkLevel.ERROR if uncaught.crash.is_judged else RemarkLevel.WARNING
            message = f"{uncaught.crash.error} in {uncaught.calls} calls with faults"
            self._note(level, uncaught.crash.file, uncaught.crash.line, "Fails on a fault", message)

    def _note(self, level: RemarkLevel, file: str, line: int, title: str, message: str) -> None:
        place = Place(path=(self._folder / file).as_posix(), line=max(line, 1))
        shown = visible(message, limit=_MESSAGE)
        self._remarks.append(Remark(level=level, title=title, message=shown, place=place))

    def fenced(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines that the runner does not parse for commands, then the remarks.

        Args:
            lines: output of the command; remarks may be added while it is consumed.
        """
        yield from fenced(lines)
        yield from workflow_commands(self._remarks)
