"""Exploration of functions: call each with stub responses, and collect the results."""

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
from ciguard.levels.app.exploration.contents import plain_contents
from ciguard.levels.app.exploration.drawn_answers import answer_of
from ciguard.levels.app.exploration.failures import LEAVING, Answers, Crash, Hang, crash_of
from ciguard.levels.app.exploration.function_caller import (
    CallDidNotReturn,
    CallEnded,
    CallNotPossible,
    FunctionCaller,
    conditions,
    host_of,
    routines_of,
)
from ciguard.levels.app.exploration.hints import hints_of
from ciguard.levels.app.exploration.search import AnswerSearch
from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.providers.registered import are_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration.function_caller import Call
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
_MAX_WITHOUT_PROGRESS = 600
"""Limit of searched answers in a row without a new outcome, while an outcome is open."""
_MAX_FOR_CRASHES = 150
"""The same limit when no outcome is open and only crashes are searched for."""


@dataclass(slots=True)
class ExploredFunction:
    """Result of the exploration of one function."""

    found: ServiceFunction
    problem: str = ""
    """Reason why the function could not be explored; empty if it could."""
    runs: int = 0
    searched: int = 0
    """Number of runs with searched answers."""
    seconds: float = 0.0
    met: dict[Goal, dict[bool, Answers]] = field(default_factory=dict)
    """Outcomes of each sub-condition, with the first, plainest answers that led to each."""
    form: int = 0
    """Index of the form of its arguments in the list of `arguments_for`."""
    crashes: list[Crash] = field(default_factory=list)
    unjudged: list[Crash] = field(default_factory=list)
    """Exceptions that a missing file, network or key may cause."""
    unsteady: list[Crash] = field(default_factory=list)
    """Exceptions that did not recur with the same answers in a new process."""
    always: Crash | None = None
    """Exception that it raises for every answer; None if it does not."""
    unguarded: dict[str, Crash] = field(default_factory=dict)
    """Exceptions that it does not catch when the service refuses the content, by class."""
    hangs: list[Hang] = field(default_factory=list)

    def outcomes(self) -> tuple[int, int]:
        """Return the number of reached outcomes of sub-conditions, and the number of all."""
        return sum(map(len, self.met.values())), 2 * len(self.met)


def explore(
    application: Application,
    functions: Sequence[ServiceFunction],
    *,
    python: str,
    budget_s: float,
    surroundings: Surroundings | None = None,
) -> Iterator[ExploredFunction]:
    """Call functions with stub responses that may change their conditions.

    Args:
        application: the parsed application.
        functions: its functions that call services.
        python: an interpreter that has the application's libraries.
        budget_s: the time budget of one function, in seconds.
        surroundings: the surroundings of the process; None: `Surroundings()`.

    Raises:
        ConfigurationError: if the interpreter does not exist.
        WorkerStartError: if the interpreter does not start.
    """
    if shutil.which(python) is None:
        msg = f"--python {python}: no such program. Name an interpreter, Python 3.9 or later."
        raise ConfigurationError(msg)
    routines = routines_of(application)
    with (
        tempfile.TemporaryDirectory(prefix="ciguard-app-") as folder,
        host_of(
            application, functions, python, surroundings=surroundings, inputs=Path(folder)
        ) as host,
    ):
        for function in functions:
            module, routine = routines[function.name]
            caller = FunctionCaller(host, function, module, routine)
            exploring = _Exploring(function, module, routine, caller, application)
            yield exploring.run(Path(folder), budget_s)


class _Exploring:
    """Explore one function."""

    def __init__(
        self,
        function: ServiceFunction,
        module: ApplicationModule,
        routine: Routine,
        caller: FunctionCaller,
        application: Application,
    ) -> None:
        self._found = function
        self._texts = module.texts
        self._routine = routine
        self._caller = caller
        self._application = application
        self._root = application.root
        self._result = ExploredFunction(function, met={goal: {} for goal in conditions(function)})
        self._raised: dict[tuple[str, str, int], tuple[int, Crash]] = {}
        self._unguarded_keys: set[tuple[str, str, int]] = set()
        """Crashes that refusals caused, by type, file and line."""
        self._fine: Answers = ()
        """Answers with which the function returned."""
        self._ends_on_purpose = False
        """True if the function has raised or exited on purpose."""
        self._deadline = 0.0
        self._asked = 0
        """Number of calls in which the function called a service."""
        self._left = 0
        """Number of calls in which the function exited the program."""
        self._arguments: Json = {}
        self._folder = Path()
        """Folder for files that are arguments."""

    def run(self, folder: Path, budget_s: float) -> ExploredFunction:
        result = self._result
        try:
            self._check_stub_responses()
            self._folder = folder
            forms = arguments_for(self._found, self._routine, plain_contents(), folder)
        except CannotCallError as error:
            result.problem = str(error)
            return result
        combinations = list(self._combinations())
        began = time.monotonic()
        self._deadline = began + budget_s
        self._arguments = forms[0]
        result.form = self._best_form(forms, combinations[min(1, len(combinations) - 1)])
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
            self._exercise_refusals()
        result.seconds = time.monotonic() - began
        return result

    def _best_form(self, forms: Sequence[Json], answers: Answers) -> int:
        """Return the index of the arguments with which the function gets farthest."""
        progress: list[tuple[int, bool, int]] = []
        for index, arguments in enumerate(forms):
            call = self._call(arguments, answers)
            if isinstance(call, CallDidNotReturn):
                self._result.problem = f"{call.instead} for a plain answer"
                return index
            if isinstance(call, CallNotPossible) or (call.raised is None and call.asked):
                return index
            progress.append((len(call.asked), call.raised is None, -index))
        return -max(progress)[2]

    def _check_stub_responses(self) -> None:
        """Raise an error if a function calls an operation without stub responses."""
        for operation in self._operations():
            has_keys = Field.KEY in (operation.fields or {})
            is_sentiment = operation.task is RecognitionTask.SENTIMENT
            has_records = bool(operation.records) and operation.task is not RecognitionTask.OTHER
            if not are_written(operation) or not (has_keys or has_records or is_sentiment):
                msg = f"ciguard has no stub responses for {operation.title}"
                raise CannotCallError(msg)

    def _operations(self) -> list[Operation]:
        return list(dict.fromkeys(call.answer.operation for call in self._found.calls))

    def _combinations(self) -> Iterator[tuple[StubResponse, ...]]:
        """Yield answers of all operations: all advance together, then one operation at a time."""
        options = [
            answers_to(operation, self._found.goals, self._texts)
            for operation in self._operations()
        ]
        length = max(map(len, options))
        for index in range(length):
            yield tuple(answers[min(index, len(answers) - 1)] for answers in options)
        if len(options) > 1:
            for varied, answers in enumerate(options):
                for answer in answers:
                    yield tuple(
                        answer if index == varied else others[min(1, len(others) - 1)]
                        for index, others in enumerate(options)
                    )

    def _call(self, arguments: Json, answers: Answers) -> Call:
        replies = {answer.operation.name: answer.to_json() for answer in answers}
        call = self._caller.call(arguments, answers=replies)
        self._asked += isinstance(call, CallEnded) and bool(call.asked)
        return call

    def _run(self, answers: Answers) -> frozenset[tuple[Goal, bool]]:
        """Call the function, record the result, and return the outcomes of sub-conditions."""
        result = self._result
        call = self._call(self._arguments, answers)
        result.runs += 1
        match call:
            case CallDidNotReturn(instead):
                result.hangs.append(Hang(instead, answers))
                if len(result.hangs) > 1:
                    result.problem = "given up: it did not return for two answers"
            case CallNotPossible(reason):
                result.problem = reason
            case CallEnded(seen, _, _, raised):
                for goal, value in seen:
                    result.met[goal].setdefault(value, answers)
                self._left += raised is not None and raised["type"] in LEAVING
                if raised is None:
                    self._fine = answers
                else:
                    self._record(raised, answers)
                return frozenset(seen)
        return frozenset()

    def _search(self) -> None:
        """Search for answers with new outcomes, or crashes."""
        result = self._result
        if not self._fine:
            return
        search = AnswerSearch(self._operations(), hints_of(self._application, self._found))
        # Crashes must be confirmed and refusals exercised in the remaining time.
        now = time.monotonic()
        until = now + min(_SEARCHING_S, (self._deadline - now) / 2)
        open_count, without_progress = len(self._unmet()), 0
        while time.monotonic() < until:
            limit = _MAX_WITHOUT_PROGRESS if open_count else _MAX_FOR_CRASHES
            if without_progress >= limit:
                return
            guess = search.guess()
            seen = self._run(
                tuple(answer_of(operation, results) for operation, results in guess.items())
            )
            result.searched += 1
            if result.problem:
                return
            search.observe(guess, seen)
            previous, open_count = open_count, len(self._unmet())
            without_progress = 0 if open_count < previous else without_progress + 1

    def _unmet(self) -> set[tuple[Goal, bool]]:
        """Return the outcomes of sub-conditions that no answer has reached."""
        met = self._result.met
        return {(goal, value) for goal in met for value in (True, False) if value not in met[goal]}

    def _record(self, raised: Json, answers: Answers) -> None:
        crash = crash_of(raised, answers, self._found, self._root)
        if crash is None:
            self._ends_on_purpose = True
        else:
            key = raised["type"], crash.file, crash.line
            times, first = self._raised.get(key, (0, crash))
            self._raised[key] = (times + 1, first)

    def _judge(self) -> None:
        """Separate failures that some answers cause from those that every answer causes."""
        result = self._result
        ends_well = bool(self._fine) or self._ends_on_purpose
        if self._raised and not ends_well and not result.problem:
            _, crash = max(self._raised.values(), key=lambda count_and_crash: count_and_crash[0])
            result.problem = f"fails for every answer: {crash.error} (line {crash.line})"
            result.always = crash
            return
        if not result.problem and result.runs and not self._asked:
            result.problem = (
                "never asks a service: its arguments, files or environment variables lead it "
                "elsewhere"
            )
        if not result.problem and self._asked == 1 and result.runs > 1:
            result.problem = "asks a service only once, and caches the answer"
        if result.runs and self._left == result.runs:
            result.problem = "exits the program for every answer"
        for _, crash in self._raised.values():
            if not crash.is_judged:
                result.unjudged.append(crash)
            elif self._recurs(crash):
                result.crashes.append(crash)
            else:
                result.unsteady.append(crash)

    def _recurs(self, crash: Crash) -> bool:
        """Return whether a crash recurs in a new process, and only with its answers."""
        if time.monotonic() > self._deadline:
            return False
        self._caller.restart()
        if not self._fine:
            return self._fails(crash.answers)
        ends = [self._fails(answers) for answers in (self._fine, crash.answers, self._fine)]
        return ends == [False, True, False]

    def _fails(self, answers: Answers) -> bool:
        call = self._call(self._arguments_for(answers), answers)
        return isinstance(call, CallEnded) and call.raised is not None

    def _exercise_refusals(self) -> None:
        """Let each service refuse, and report the exceptions that the function does not catch."""
        for operation in self._operations() if self._fine else ():
            for refusal in refusals_of(operation):
                answers = tuple(
                    refusal if answer.operation == operation else answer for answer in self._fine
                )
                call = self._call(self._arguments_for(answers), answers)
                if isinstance(call, CallDidNotReturn):
                    self._result.hangs.append(Hang(call.instead, answers))
                    return
                if isinstance(call, CallNotPossible) or time.monotonic() > self._deadline:
                    return
                for goal, value in call.seen:
                    self._result.met[goal].setdefault(value, answers)
                if call.raised is not None:
                    self._record_unguarded(call.raised, answers, refusal)

    def _arguments_for(self, answers: Answers) -> Json:
        """Return the arguments, with the text that a service refuses if there is one."""
        text = b"".join(answer.text for answer in answers)
        if not text:
            return self._arguments
        contents, folder = plain_contents(text), self._folder / "refused"
        return arguments_for(self._found, self._routine, contents, folder)[self._result.form]

    def _record_unguarded(self, raised: Json, answers: Answers, refusal: StubResponse) -> None:
        crash = crash_of(raised, answers, self._found, self._root)
        if crash is None:
            return
        key = raised["type"], crash.file, crash.line
        if key in self._raised:
            return
        if not crash.is_judged:
            if refusal.is_of_content:
                self._result.unguarded.setdefault(raised["type"], crash)
        # Each service may refuse the same text as too long; report that crash once.
        elif key not in self._unguarded_keys and self._recurs(crash):
            self._unguarded_keys.add(key)
            self._result.crashes.append(crash)
