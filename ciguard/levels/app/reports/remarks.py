"""What a pull request shows at the lines of an application that asks cognitive services."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.plan import Place
from ciguard.domain.remarks import Remark, RemarkLevel
from ciguard.domain.text import visible
from ciguard.reports import fenced, workflow_commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.levels.app.accuracy import Assessed
    from ciguard.levels.app.dead_conditions import Dead
    from ciguard.levels.app.exploration import ExploredFunction
    from ciguard.levels.app.static_analysis import Application

_MESSAGE = 1500


class AppRemarks:
    """Collects remarks while a command prints, and yields both for the log of a GitHub step."""

    def __init__(self, application: Application) -> None:
        """Prepare it.

        Args:
            application: whose files they are; GitHub is told paths from the working directory.
        """
        here, root = Path.cwd(), application.root.resolve()
        self._folder = root.relative_to(here) if root.is_relative_to(here) else Path()
        self._said: list[Remark] = []

    def note_dead(self, dead: Iterable[Dead]) -> None:
        """Remark sub-conditions that are always the same."""
        for one in dict.fromkeys(dead):
            meant = f" Perhaps: {', '.join(one.proposals)}." if one.proposals else ""
            message = f"{one.text}: {one.reason}.{meant}"
            branch = one.branch
            self._note(RemarkLevel.WARNING, branch.file, branch.line, "Dead condition", message)

    def note_explored(self, explored: ExploredFunction) -> None:
        """Remark answers with which a function fails."""
        for crash in explored.crashes:
            message = f"{crash.error} when {'; '.join(crash.titles)}"
            self._note(RemarkLevel.ERROR, crash.file, crash.line, "Fails on an answer", message)
        found = explored.found
        for hang in explored.hangs:
            message = f"{found.name} {hang.instead} when {'; '.join(hang.titles)}"
            self._note(RemarkLevel.ERROR, found.file, found.line, "Does not return", message)
        for name, crash in explored.unguarded.items():
            said = f"{name}: {crash.refusal}"
            message = f"{found.name} lets through that the service refuses its input: {said}"
            self._note(RemarkLevel.WARNING, found.file, found.line, "Refusal", message)

    def note_assessed(self, assessed: Assessed) -> None:
        """Remark branches that miss too many of the inputs made for them."""
        for verdict in assessed.verdicts:
            if not verdict.is_failure:
                continue
            level = RemarkLevel.ERROR if verdict.is_of_service else RemarkLevel.WARNING
            helps = "" if verdict.suggestion is None else f" {verdict.suggestion.sentence}"
            message = f"{verdict.goal.text}: {verdict.claim}, answered by {verdict.engine}.{helps}"
            branch = verdict.goal.branch
            self._note(level, branch.file, verdict.goal.line, "Low accuracy", message)
        for crash, tried in assessed.crashes:
            message = f"{crash.error} with {tried.origin}"
            self._note(RemarkLevel.ERROR, crash.file, crash.line, "Fails on an input", message)
        for one in assessed.robustness.raised.values() if assessed.robustness else ():
            level = RemarkLevel.ERROR if one.crash.is_judged else RemarkLevel.WARNING
            message = f"{one.crash.error} in {one.calls} calls with faults"
            self._note(level, one.crash.file, one.crash.line, "Fails on a fault", message)

    def _note(self, level: RemarkLevel, file: str, line: int, title: str, message: str) -> None:
        place = Place(path=(self._folder / file).as_posix(), line=max(line, 1))
        shown = visible(message, limit=_MESSAGE)
        self._said.append(Remark(level=level, title=title, message=shown, place=place))

    def fenced(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield lines in which the runner sees no command, then the remarks.

        Args:
            lines: are taken one by one; what is remarked meanwhile is told after the last.
        """
        yield from fenced(lines)
        yield from workflow_commands(self._said)
