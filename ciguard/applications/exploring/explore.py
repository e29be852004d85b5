"""One function after the other is called with answers, and what comes of it is noted."""

from __future__ import annotations

import linecache
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.applications.exploring.answers import Answered, answers_to
from ciguard.applications.exploring.arguments import CannotCallError, arguments_for
from ciguard.applications.finding.summaries import Placed
from ciguard.applications.providers.description import Task
from ciguard.errors import ConfigurationError
from ciguard.functions import Answered as Replied
from ciguard.functions import Died, Host, HostSettings, Overdue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.applications.finding.application import Application, Routine
    from ciguard.applications.finding.conditions import Goal
    from ciguard.applications.finding.findings import Found
    from ciguard.applications.providers.description import Operation
    from ciguard.domain import Json
    from ciguard.functions import Answer

_ENTRY = "ciguard.applications.in_target.explorer"
_LIMIT_S = 20.0
_FIRST_LIMIT_S = 120.0
"""The first call in a process imports what the application needs."""
_MOST_RUNS = 400
_GOOGLE = "google"
_WITHOUT_REPLY: dict[type, str] = {Died: "ends its process", Overdue: "does not end"}
_LEAVING = frozenset({"SystemExit", "KeyboardInterrupt", "GeneratorExit"})
"""What an application ends itself with."""


@dataclass(frozen=True, slots=True)
class Crash:
    """An exception that some answers bring about and others do not."""

    error: str
    """Type and message."""
    file: str
    line: int
    answers: tuple[str, ...]
    """What was answered when it was first met, in words."""
    is_judged: bool = True
    """False of an exception that may come from what is missing here: a file, a network, a key."""


@dataclass(slots=True)
class Explored:
    """What came of one function."""

    found: Found
    problem: str = ""
    """Why it could not be explored; empty if it could."""
    runs: int = 0
    seconds: float = 0.0
    met: dict[Goal, set[bool]] = field(default_factory=dict)
    """How each sub-condition turned out."""
    crashes: list[Crash] = field(default_factory=list)
    unjudged: list[Crash] = field(default_factory=list)
    """Exceptions that may come from what is missing here: a file, a network, a key."""
    hangs: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """What it did instead of returning, and with which answers."""

    def outcomes(self) -> tuple[int, int]:
        """Return how many outcomes of sub-conditions were met, and of how many."""
        return sum(map(len, self.met.values())), 2 * len(self.met)


def explore(
    application: Application, found: Sequence[Found], *, python: str, budget_s: float
) -> Iterator[Explored]:
    """Call functions with answers that may turn their conditions.

    Args:
        application: as read.
        found: its functions that ask services.
        python: interpreter that has what the application imports.
        budget_s: seconds for one function.

    Raises:
        ConfigurationError: if there is no such interpreter.
        WorkerStartError: if it does not start.
    """
    if shutil.which(python) is None:
        msg = f"--python {python}: no such program. Name an interpreter, Python 3.9 or later."
        raise ConfigurationError(msg)
    routines = {
        Placed(module, routine).qualified: (module.name, routine)
        for module in application.modules
        for routine in module.routines
    }
    settings = HostSettings(
        python=python,
        path=[str(application.root.resolve())],
        entry=_ENTRY,
        details=_details(application, found),
    )
    with Host(settings) as host, tempfile.TemporaryDirectory(prefix="ciguard-app-") as folder:
        for one in found:
            module, routine = routines[one.name]
            exploring = _Exploring(one, module, routine, host, application.root)
            yield exploring.explored(Path(folder), budget_s)


def _details(application: Application, found: Sequence[Found]) -> dict[str, Json]:
    root = application.root.resolve()
    return {
        "files": {str((root / one.file).resolve()): one.file for one in application.modules},
        "places": sorted({_place(goal) for one in found for goal in _conditions(one)}),
    }


def _place(goal: Goal) -> tuple[str, int, int, int, int]:
    return (goal.branch.file, *goal.place)


def _conditions(found: Found) -> list[Goal]:
    return [one.goal for one in found.goals if one.goal.is_condition]


class _Exploring:
    """Of one function."""

    def __init__(self, found: Found, module: str, routine: Routine, host: Host, root: Path) -> None:
        self._found = found
        self._module = module
        self._routine = routine
        self._host = host
        self._root = root
        self._result = Explored(found, met={goal: set() for goal in _conditions(found)})
        self._by_place = {_place(goal): goal for goal in self._result.met}
        self._raised: dict[tuple[str, str, int], tuple[int, Crash]] = {}

    def explored(self, folder: Path, budget_s: float) -> Explored:
        began = time.monotonic()
        result = self._result
        try:
            self._refuse_unmade()
            forms = arguments_for(self._found, self._routine, folder)
        except CannotCallError as error:
            result.problem = str(error)
            return result
        combinations = list(self._combinations())
        arguments = self._working(forms, combinations[min(1, len(combinations) - 1)])
        for answers in combinations:
            if result.problem or result.runs >= _MOST_RUNS:
                break
            self._run(arguments, answers)
            result.seconds = time.monotonic() - began
            if result.seconds > budget_s:
                break
        self._judge()
        return result

    def _working(self, forms: Sequence[Json], answers: Sequence[Answered]) -> Json:
        """Return the arguments in the form with which the function gets farthest."""
        farthest: list[tuple[int, Json]] = []
        for arguments in forms:
            reply = self._asked(arguments, answers)
            if not isinstance(reply, Replied):
                self._result.problem = f"{_WITHOUT_REPLY[type(reply)]} when an answer is plain"
                return arguments
            if "problem" in reply.content:
                return arguments
            if reply.content["raised"] is None:
                return arguments
            farthest.append((len(reply.content["asked"]), arguments))
        return max(farthest, key=lambda one: one[0])[1]

    def _refuse_unmade(self) -> None:
        """Refuse a function that asks what no answers are made for."""
        for operation in self._operations():
            is_made = operation.records or operation.task is Task.SENTIMENT
            is_other = operation.task in {Task.OTHER, Task.FACES}
            if operation.provider != _GOOGLE or is_other or not is_made:
                msg = f"no answers are made for {operation.title}"
                raise CannotCallError(msg)

    def _operations(self) -> list[Operation]:
        return list(dict.fromkeys(call.answer.operation for call in self._found.calls))

    def _combinations(self) -> Iterator[tuple[Answered, ...]]:
        """Yield an answer for each operation: all alike first, then one after the other."""
        several = [answers_to(one, self._found.goals) for one in self._operations()]
        longest = max(map(len, several))
        for at in range(longest):
            yield tuple(answers[min(at, len(answers) - 1)] for answers in several)
        if len(several) > 1:
            for place, answers in enumerate(several):
                for answer in answers:
                    yield tuple(
                        answer if at == place else other[min(1, len(other) - 1)]
                        for at, other in enumerate(several)
                    )

    def _run(self, arguments: Json, answers: Sequence[Answered]) -> None:
        result = self._result
        reply = self._asked(arguments, answers)
        result.runs += 1
        titles = tuple(f"{one.operation.name}: {one.title}" for one in answers)
        if not isinstance(reply, Replied):
            result.hangs.append((_WITHOUT_REPLY[type(reply)], titles))
            if len(result.hangs) > 1:
                result.problem = "given up after two answers with which it does not return"
            return
        if "problem" in reply.content:
            result.problem = reply.content["problem"]
            return
        for *place, value in reply.content["seen"]:
            goal = self._by_place.get(tuple(place))
            if goal is not None:
                result.met[goal].add(value)
        if reply.content["raised"] is not None:
            self._note(reply.content["raised"], titles)

    def _asked(self, arguments: Json, answers: Sequence[Answered]) -> Answer:
        message = {
            "module": self._module,
            "function": self._routine.name,
            "arguments": arguments,
            "answers": {one.operation.name: one.content for one in answers},
        }
        limit_s = _LIMIT_S if self._host.is_running else _FIRST_LIMIT_S
        return self._host.ask(message, limit_s=limit_s)

    def _note(self, raised: Json, titles: tuple[str, ...]) -> None:
        frames = raised["frames"]
        if raised["type"] in _LEAVING:
            return
        file, line = (frames[-1][0], frames[-1][1]) if frames else (self._found.file, 0)
        if raised["own"] and self._raises(file, line):
            return
        error = f"{raised['type']}: {raised['message']}"
        crash = Crash(error, file, line, titles, is_judged=not raised["lacks"])
        times, first = self._raised.get((raised["type"], file, line), (0, crash))
        self._raised[raised["type"], file, line] = (times + 1, first)

    def _raises(self, file: str, line: int) -> bool:
        """Tell whether the application raises there, as it means to."""
        return linecache.getline(str(self._root / file), line).split().count("raise") > 0

    def _judge(self) -> None:
        """Tell what answers bring about from what comes whatever is answered."""
        result = self._result
        for times, crash in self._raised.values():
            if times == result.runs:
                result.problem = f"fails whatever is answered: {crash.error} (line {crash.line})"
            else:
                (result.crashes if crash.is_judged else result.unjudged).append(crash)
