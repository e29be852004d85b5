"""One function after the other is called with answers, and what comes of it is noted."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.exploration.answers import StubResponse, answers_to, refusals_of
from ciguard.levels.app.exploration.arguments import CannotCallError, arguments_for
from ciguard.levels.app.exploration.calling import (
    CallEnded,
    Endless,
    FunctionCaller,
    Impossible,
    conditions,
    host_of,
    routines_of,
)
from ciguard.levels.app.exploration.contents import plain_contents
from ciguard.levels.app.exploration.failures import LEAVING, Answers, Crash, Hang, crash_of
from ciguard.levels.app.exploration.hints import hints_of
from ciguard.levels.app.exploration.searched import answer_of
from ciguard.levels.app.exploration.searching import Search
from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.providers.registered import are_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration.calling import Call
    from ciguard.levels.app.exploration.surroundings import Surroundings
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.application import (
        Application,
        ApplicationModule,
        Routine,
    )
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction

_MAX_RUNS = 400
_SEARCHING_S = 10.0
_MAX_IN_VAIN = 600
"""Answers that are searched for, one after the other, and turn nothing."""


@dataclass(slots=True)
class ExploredFunction:
    """What came of one function."""

    found: ServiceFunction
    problem: str = ""
    """Why it could not be explored; empty if it could."""
    runs: int = 0
    searched: int = 0
    """Answers among those that were searched for."""
    seconds: float = 0.0
    met: dict[Goal, dict[bool, Answers]] = field(default_factory=dict)
    """How each sub-condition turned out, and by which answers first, the plainest ones."""
    form: int = 0
    """Of its arguments, among `arguments_for`."""
    crashes: list[Crash] = field(default_factory=list)
    unjudged: list[Crash] = field(default_factory=list)
    """Exceptions that may come from what is missing here: a file, a network, a key."""
    unsteady: list[Crash] = field(default_factory=list)
    """Exceptions that did not recur with the same answers in a new process."""
    always: Crash | None = None
    """What it fails with whatever is answered."""
    unguarded: dict[str, Crash] = field(default_factory=dict)
    """Exceptions that it lets through when the service refuses what it is asked about, by class."""
    hangs: list[Hang] = field(default_factory=list)

    def outcomes(self) -> tuple[int, int]:
        """Return how many outcomes of sub-conditions were met, and of how many."""
        return sum(map(len, self.met.values())), 2 * len(self.met)


def explore(
    application: Application,
    found: Sequence[ServiceFunction],
    *,
    python: str,
    budget_s: float,
    surroundings: Surroundings | None = None,
) -> Iterator[ExploredFunction]:
    """Call functions with answers that may turn their conditions.

    Args:
        application: as read.
        found: its functions that ask services.
        python: interpreter that has what the application imports.
        budget_s: seconds for one function.
        surroundings: what it has around it; None: as `Surroundings()`.

    Raises:
        ConfigurationError: if there is no such interpreter.
        WorkerStartError: if it does not start.
    """
    if shutil.which(python) is None:
        msg = f"--python {python}: no such program. Name an interpreter, Python 3.9 or later."
        raise ConfigurationError(msg)
    routines = routines_of(application)
    with (
        tempfile.TemporaryDirectory(prefix="ciguard-app-") as folder,
        host_of(application, found, python, surroundings=surroundings, inputs=Path(folder)) as host,
    ):
        for one in found:
            module, routine = routines[one.name]
            caller = FunctionCaller(host, one, module, routine)
            exploring = _Exploring(one, module, routine, caller, application)
            yield exploring.explored(Path(folder), budget_s)


class _Exploring:
    """Of one function."""

    def __init__(
        self,
        found: ServiceFunction,
        module: ApplicationModule,
        routine: Routine,
        caller: FunctionCaller,
        application: Application,
    ) -> None:
        self._found = found
        self._texts = module.texts
        self._routine = routine
        self._caller = caller
        self._application = application
        self._root = application.root
        self._result = ExploredFunction(found, met={goal: {} for goal in conditions(found)})
        self._raised: dict[tuple[str, str, int], tuple[int, Crash]] = {}
        self._let_through: set[tuple[str, str, int]] = set()
        """What came through refusals."""
        self._fine: Answers = ()
        """With which it returned."""
        self._ends_as_meant = False
        """Whether it has raised or left as it is meant to."""
        self._deadline = 0.0
        self._asked = 0
        """Calls in which it asked a service."""
        self._left = 0
        """Times that it ended the program."""
        self._arguments: Json = {}
        self._folder = Path()
        """For files that are its arguments."""

    def explored(self, folder: Path, budget_s: float) -> ExploredFunction:
        result = self._result
        try:
            self._refuse_unmade()
            self._folder = folder
            forms = arguments_for(self._found, self._routine, plain_contents(), folder)
        except CannotCallError as error:
            result.problem = str(error)
            return result
        combinations = list(self._combinations())
        began = time.monotonic()
        self._deadline = began + budget_s
        self._arguments = forms[0]
        result.form = self._working(forms, combinations[min(1, len(combinations) - 1)])
        self._arguments = forms[result.form]
        for answers in combinations:
            if result.problem or result.runs >= _MAX_RUNS:
                break
            self._run(answers)
            result.seconds = time.monotonic() - began
            if result.seconds > budget_s:
                break
        self._search()
        self._judge()
        if not result.problem:
            self._refuse()
        result.seconds = time.monotonic() - began
        return result

    def _working(self, forms: Sequence[Json], answers: Answers) -> int:
        """Return the place of the arguments with which the function gets farthest."""
        farthest: list[tuple[int, bool, int]] = []
        for at, arguments in enumerate(forms):
            call = self._called(arguments, answers)
            if isinstance(call, Endless):
                self._result.problem = f"{call.instead} when an answer is plain"
                return at
            if isinstance(call, Impossible) or (call.raised is None and call.asked):
                return at
            farthest.append((len(call.asked), call.raised is None, -at))
        return -max(farthest)[2]

    def _refuse_unmade(self) -> None:
        """Refuse a function that asks what no answers are made for."""
        for operation in self._operations():
            has_keys = Field.KEY in (operation.fields or {})
            is_felt = operation.task is RecognitionTask.SENTIMENT
            has_records = bool(operation.records) and operation.task is not RecognitionTask.OTHER
            if not are_written(operation) or not (has_keys or has_records or is_felt):
                msg = f"no answers are made for {operation.title}"
                raise CannotCallError(msg)

    def _operations(self) -> list[Operation]:
        return list(dict.fromkeys(call.answer.operation for call in self._found.calls))

    def _combinations(self) -> Iterator[tuple[StubResponse, ...]]:
        """Yield an answer for each operation: all alike first, then one after the other."""
        several = [answers_to(one, self._found.goals, self._texts) for one in self._operations()]
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

    def _called(self, arguments: Json, answers: Answers) -> Call:
        told = {one.operation.name: one.to_json() for one in answers}
        call = self._caller.call(arguments, answers=told)
        self._asked += isinstance(call, CallEnded) and bool(call.asked)
        return call

    def _run(self, answers: Answers) -> frozenset[tuple[Goal, bool]]:
        """Call the function, note what comes of it, and return how sub-conditions turned out."""
        result = self._result
        call = self._called(self._arguments, answers)
        result.runs += 1
        match call:
            case Endless(instead):
                result.hangs.append(Hang(instead, answers))
                if len(result.hangs) > 1:
                    result.problem = "given up after two answers with which it does not return"
            case Impossible(reason):
                result.problem = reason
            case CallEnded(seen, _, _, raised):
                for goal, value in seen:
                    result.met[goal].setdefault(value, answers)
                self._left += raised is not None and raised["type"] in LEAVING
                if raised is None:
                    self._fine = answers
                else:
                    self._note(raised, answers)
                return frozenset(seen)
        return frozenset()

    def _search(self) -> None:
        """Search for answers that bring about outcomes that none did, as long as any is open."""
        result = self._result
        if not self._fine:
            return
        search = Search(self._operations(), hints_of(self._application, self._found))
        # What was found takes time to be made again, and refusals are tried after that.
        now = time.monotonic()
        until = now + min(_SEARCHING_S, (self._deadline - now) / 2)
        left, in_vain = len(self._unmet()), 0
        while left and in_vain < _MAX_IN_VAIN and time.monotonic() < until:
            guess = search.guess()
            seen = self._run(tuple(answer_of(one, results) for one, results in guess.items()))
            result.searched += 1
            if result.problem:
                return
            search.note(guess, seen)
            before, left = left, len(self._unmet())
            in_vain = 0 if left < before else in_vain + 1

    def _unmet(self) -> set[tuple[Goal, bool]]:
        """Return the outcomes of sub-conditions that no answer has brought about."""
        met = self._result.met
        return {(goal, value) for goal in met for value in (True, False) if value not in met[goal]}

    def _note(self, raised: Json, answers: Answers) -> None:
        crash = crash_of(raised, answers, self._found, self._root)
        if crash is None:
            self._ends_as_meant = True
        else:
            key = raised["type"], crash.file, crash.line
            times, first = self._raised.get(key, (0, crash))
            self._raised[key] = (times + 1, first)

    def _judge(self) -> None:
        """Tell what answers bring about from what comes whatever is answered."""
        result = self._result
        ends_well = bool(self._fine) or self._ends_as_meant
        if self._raised and not ends_well and not result.problem:
            _, crash = max(self._raised.values(), key=lambda one: one[0])
            result.problem = f"fails whatever is answered: {crash.error} (line {crash.line})"
            result.always = crash
            return
        if not result.problem and result.runs and not self._asked:
            result.problem = (
                "never asks a service: its arguments, what it reads, or a variable of the "
                "environment lead it elsewhere"
            )
        if not result.problem and self._asked == 1 and result.runs > 1:
            result.problem = "asks a service once only, and remembers what it answers"
        if result.runs and self._left == result.runs:
            result.problem = "ends the program whatever is answered"
        for _, crash in self._raised.values():
            if not crash.is_judged:
                result.unjudged.append(crash)
            elif self._recurs(crash):
                result.crashes.append(crash)
            else:
                result.unsteady.append(crash)

    def _recurs(self, crash: Crash) -> bool:
        """Return whether answers bring it about in a new process too, between other answers."""
        if time.monotonic() > self._deadline:
            return False
        self._caller.restart()
        if not self._fine:
            return self._fails(crash.answers)
        ends = [self._fails(answers) for answers in (self._fine, crash.answers, self._fine)]
        return ends == [False, True, False]

    def _fails(self, answers: Answers) -> bool:
        call = self._called(self._arguments_for(answers), answers)
        return isinstance(call, CallEnded) and call.raised is not None

    def _refuse(self) -> None:
        """Have services refuse, one after the other: what comes through is told."""
        for operation in self._operations() if self._fine else ():
            for refusal in refusals_of(operation):
                answers = tuple(
                    refusal if one.operation == operation else one for one in self._fine
                )
                call = self._called(self._arguments_for(answers), answers)
                if isinstance(call, Endless):
                    self._result.hangs.append(Hang(call.instead, answers))
                    return
                if isinstance(call, Impossible) or time.monotonic() > self._deadline:
                    return
                for goal, value in call.seen:
                    self._result.met[goal].setdefault(value, answers)
                if call.raised is not None:
                    self._note_unguarded(call.raised, answers, refusal)

    def _arguments_for(self, answers: Answers) -> Json:
        """Return the arguments, with the text that a service refuses among the answers."""
        text = b"".join(one.text for one in answers)
        if not text:
            return self._arguments
        contents, folder = plain_contents(text), self._folder / "refused"
        return arguments_for(self._found, self._routine, contents, folder)[self._result.form]

    def _note_unguarded(self, raised: Json, answers: Answers, refusal: StubResponse) -> None:
        crash = crash_of(raised, answers, self._found, self._root)
        if crash is None:
            return
        key = raised["type"], crash.file, crash.line
        if key in self._raised:
            return
        if not crash.is_judged:
            if refusal.is_of_content:
                self._result.unguarded.setdefault(raised["type"], crash)
        # A text that is too long is so for each service that is asked about it.
        elif key not in self._let_through and self._recurs(crash):
            self._let_through.add(key)
            self._result.crashes.append(crash)
