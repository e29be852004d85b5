"""Exploration of functions: call each with stub responses, and collect the results."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.exploration.answers import refusals_of
from ciguard.levels.app.exploration.arguments import CannotCallError, arguments_for
from ciguard.levels.app.exploration.combinations import (
    agreeing_operations,
    check_stub_responses,
    combinations_of,
)
from ciguard.levels.app.exploration.contents import plain_contents
from ciguard.levels.app.exploration.failures import EXIT_EXCEPTIONS, Answers, Crash, Hang, crash_of
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
from ciguard.levels.app.exploration.random_answers import response_recognising
from ciguard.levels.app.exploration.search import AnswerSearch
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration.function_caller import Call
    from ciguard.levels.app.exploration.process_environment import ProcessEnvironment
    from ciguard.levels.app.exploration.stub_response import StubResponse
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.application import (
        Application,
        ApplicationModule,
        Routine,
    )
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction

_MAX_RUNS = 400
"""Maximum number of calls with enumerated stub responses."""
_MIN_RUNS = 3  # without a result, with a plain one, and with another
_SHARE_OF_ENUMERATION = 0.7
"""Share of the time for enumerated stub responses: crashes are tried again in the rest."""
_MAX_SEARCH_S = 10.0
"""Maximum duration of the random search, in seconds."""
_MAX_WITHOUT_PROGRESS = 600
"""Maximum random calls in a row without progress, while an outcome is not reached."""
_MAX_FOR_CRASHES = 150
"""Maximum random calls in a row without progress, once all outcomes are reached."""


@dataclass(slots=True)
class ExploredFunction:
    """Result of the exploration of one function."""

    function: ServiceFunction
    problem: str = ""
    """Reason why the function could not be explored; empty if it could."""
    runs: int = 0
    """Number of calls."""
    random_runs: int = 0
    """Number of those calls whose stub responses were drawn at random."""
    seconds: float = 0.0
    """Duration of the exploration."""
    answers_by_outcome: dict[Goal, dict[bool, Answers]] = field(default_factory=dict)
    """Sub-condition → reached outcome → the first and plainest stub responses that led to it."""
    form: int = 0
    """Index of the arguments in the list that `arguments_for` returns."""
    crashes: list[Crash] = field(default_factory=list)
    """Exceptions that some answers cause and others do not."""
    unjudged_crashes: list[Crash] = field(default_factory=list)
    """Exceptions that a missing file, network or key may have caused."""
    flaky_crashes: list[Crash] = field(default_factory=list)
    """Exceptions that did not recur with the same answers in a new process."""
    unrepeated_crashes: list[Crash] = field(default_factory=list)
    """Exceptions for whose second try there was no time."""
    constant_crash: Crash | None = None
    """Exception that each tried answer causes; None if one does not."""
    uncaught_refusals: dict[str, Crash] = field(default_factory=dict)
    """Class of an exception → uncaught exception after the service refused the content."""
    remarks: tuple[str, ...] = ()
    """Sentences about stubbed packages and statements that were skipped on import."""
    hangs: list[Hang] = field(default_factory=list)
    """Calls that did not return."""

    def outcome_counts(self) -> tuple[int, int]:
        """Return the number of reached outcomes of sub-conditions, and the total number."""
        return sum(map(len, self.answers_by_outcome.values())), 2 * len(self.answers_by_outcome)


def explore(
    application: Application,
    functions: Sequence[ServiceFunction],
    *,
    python: str,
    budget_s: float,
    process_environment: ProcessEnvironment | None = None,
) -> Iterator[ExploredFunction]:
    """Call functions with stub responses that may change their conditions.

    Args:
        application: the parsed application.
        functions: its functions that call services.
        python: an interpreter that has the application's libraries.
        budget_s: the time budget of one function, in seconds.
        process_environment: the environment of the process; if None, `ProcessEnvironment()`.

    Raises:
        ConfigurationError: if the interpreter does not exist.
        WorkerStartError: if the interpreter does not start.
    """
    if shutil.which(python) is None:
        msg = f"--python {python}: program not found. Name an interpreter of Python 3.9 or later."
        raise ConfigurationError(msg)
    routines = routines_of(application)
    with (
        tempfile.TemporaryDirectory(prefix=scratch_prefix("app")) as folder,
        host_of(
            application,
            functions,
            python,
            process_environment=process_environment,
            inputs=Path(folder),
        ) as host,
    ):
        for function in functions:
            module, routine = routines[function.name]
            caller = FunctionCaller(host, function, module, routine)
            exploration = _FunctionExploration(function, module, routine, caller, application)
            yield exploration.run(Path(folder), budget_s)


class _FunctionExploration:
    """Explore one function."""

    def __init__(
        self,
        function: ServiceFunction,
        module: ApplicationModule,
        routine: Routine,
        caller: FunctionCaller,
        application: Application,
    ) -> None:
        self._function = function
        self._texts = module.texts
        self._routine = routine
        self._caller = caller
        self._application = application
        self._root = application.root
        self._result = ExploredFunction(
            function, answers_by_outcome={goal: {} for goal in conditions(function)}
        )
        self._crash_counts: dict[tuple[str, str, int], tuple[int, Crash]] = {}
        """Exception type, file and line → number of calls that raised it, and the first crash."""
        self._refusal_crashes: set[tuple[str, str, int]] = set()
        """Crashes after refusals, by exception type, file and line."""
        self._returning_answers: Answers = ()
        """Stub responses with which the function returned; empty if it never did."""
        self._raises_on_purpose = False
        """True if the function has raised or exited on purpose."""
        self._deadline = 0.0
        self._service_calls = 0
        """Number of calls in which the function called a service."""
        self._exits = 0
        """Number of calls in which the function exited the program."""
        self._arguments: Json = {}
        self._folder = Path()
        """Folder for files that are arguments."""

    def run(self, folder: Path, budget_s: float) -> ExploredFunction:
        result = self._result
        try:
            check_stub_responses(self._operations())
            self._folder = folder
            forms = arguments_for(self._function, self._routine, plain_contents(), folder)
        except CannotCallError as error:
            result.problem = str(error)
            return result
        combinations = list(combinations_of(self._operations(), self._function.goals, self._texts))
        start = time.monotonic()
        self._deadline = start + budget_s
        self._arguments = forms[0]
        result.form = self._best_form(forms, combinations[min(1, len(combinations) - 1)])
        self._arguments = forms[result.form]
        for answers in combinations:
            if result.problem or result.runs >= _MAX_RUNS:
                break
            self._run(answers)
            result.seconds = time.monotonic() - start
            is_late = result.seconds > budget_s * _SHARE_OF_ENUMERATION
            if is_late and result.runs >= _MIN_RUNS:
                break
        if not result.problem:
            self._search()
        self._classify_failures()
        if not result.problem:
            self._exercise_refusals()
        result.seconds = time.monotonic() - start
        return result

    def _best_form(self, forms: Sequence[Json], answers: Answers) -> int:
        """Return the index of the arguments with which the function calls the most services."""
        progress: list[tuple[int, bool, int]] = []
        for index, arguments in enumerate(forms):
            call = self._call(arguments, answers)
            if isinstance(call, CallDidNotReturn):
                self._result.problem = f"{call.behaviour} for a plain answer"
                return index
            if isinstance(call, CallNotPossible) or (call.exception is None and call.operations):
                return index
            progress.append((len(call.operations), call.exception is None, -index))
        return -max(progress)[2]

    def _operations(self) -> list[Operation]:
        return list(dict.fromkeys(call.answer.operation for call in self._function.calls))

    def _call(self, arguments: Json, answers: Answers) -> Call:
        replies = {answer.operation.name: answer.to_json() for answer in answers}
        call = self._caller.call(arguments, answers=replies)
        self._service_calls += isinstance(call, CallEnded) and bool(call.operations)
        return call

    def _run(self, answers: Answers) -> frozenset[tuple[Goal, bool]]:
        """Call the function, record the result, and return the outcomes of sub-conditions."""
        result = self._result
        call = self._call(self._arguments, answers)
        result.runs += 1
        match call:
            case CallDidNotReturn(behaviour):
                result.hangs.append(Hang(behaviour, answers))
                if len(result.hangs) > 1:
                    result.problem = (
                        "stopped after two answers for which the function did not return"
                    )
            case CallNotPossible(reason):
                result.problem = reason
            case CallEnded(outcomes, _, _, exception, remarks):
                result.remarks = remarks
                for goal, value in outcomes:
                    result.answers_by_outcome[goal].setdefault(value, answers)
                self._exits += exception is not None and exception["type"] in EXIT_EXCEPTIONS
                if exception is None:
                    self._returning_answers = answers
                else:
                    self._record_exception(exception, answers)
                return frozenset(outcomes)
        return frozenset()

    def _search(self) -> None:
        """Search at random for stub responses that lead to new outcomes or crashes."""
        result = self._result
        groups = {group[0]: group for group in agreeing_operations(self._operations())}
        search = AnswerSearch(list(groups), hints_of(self._application, self._function))
        # Crashes must be confirmed and refusals exercised in the remaining time.
        now = time.monotonic()
        until = now + min(_MAX_SEARCH_S, (self._deadline - now) / 2)
        open_count, without_progress = len(self._unreached_outcomes()), 0
        while time.monotonic() < until:
            is_worth_more = open_count and self._returning_answers
            limit = _MAX_WITHOUT_PROGRESS if is_worth_more else _MAX_FOR_CRASHES
            if without_progress >= limit:
                return
            guess = search.guess()
            outcomes = self._run(
                tuple(
                    response_recognising(operation, results)
                    for first, results in guess.items()
                    for operation in groups[first]
                )
            )
            result.random_runs += 1
            if result.problem:
                return
            search.observe(guess, outcomes)
            previous, open_count = open_count, len(self._unreached_outcomes())
            without_progress = 0 if open_count < previous else without_progress + 1

    def _unreached_outcomes(self) -> set[tuple[Goal, bool]]:
        """Return the outcomes of sub-conditions that no stub response has reached."""
        reached = self._result.answers_by_outcome
        return {
            (goal, value)
            for goal in reached
            for value in (True, False)
            if value not in reached[goal]
        }

    def _record_exception(self, exception: Json, answers: Answers) -> None:
        """Count an exception as a crash, unless the application raises it on purpose."""
        crash = crash_of(exception, answers, self._function, self._root)
        if crash is None:
            self._raises_on_purpose = True
        else:
            key = exception["type"], crash.file, crash.line
            count, first_crash = self._crash_counts.get(key, (0, crash))
            self._crash_counts[key] = (count + 1, first_crash)

    def _classify_failures(self) -> None:
        """Sort exceptions by cause: every answer, the environment, chance, or certain answers."""
        result = self._result
        ends_well = bool(self._returning_answers) or self._raises_on_purpose
        if self._crash_counts and not ends_well and not result.problem:
            _, crash = max(
                self._crash_counts.values(), key=lambda count_and_crash: count_and_crash[0]
            )
            result.problem = (
                f"fails for each answer that was tried: {crash.error} (line {crash.line})"
            )
            result.constant_crash = None if result.remarks else crash
            return
        if not result.problem and result.runs and not self._service_calls:
            result.problem = (
                "never calls a service; its arguments, files or environment variables may be "
                "unsuitable"
            )
        if not result.problem and self._service_calls == 1 and result.runs > 1:
            result.problem = "calls a service only once, as it caches the answer"
        if result.runs and self._exits == result.runs:
            result.problem = "exits the program for each answer that was tried"
        for _, crash in self._crash_counts.values():
            if not crash.is_judged:
                result.unjudged_crashes.append(crash)
            # The first crash is tried again even if its time is over.
            elif time.monotonic() > self._deadline and (result.crashes or result.flaky_crashes):
                result.unrepeated_crashes.append(crash)
            elif self._recurs(crash):
                result.crashes.append(crash)
            else:
                result.flaky_crashes.append(crash)

    def _recurs(self, crash: Crash) -> bool:
        """Return whether a crash recurs in a new process with its answers, and with no others."""
        self._caller.restart()
        if not self._returning_answers:
            return self._fails(crash.answers)
        fails = [
            self._fails(answers)
            for answers in (self._returning_answers, crash.answers, self._returning_answers)
        ]
        return fails == [False, True, False]

    def _fails(self, answers: Answers) -> bool:
        """Call the function with stub responses, and return whether it raises."""
        call = self._call(self._arguments_for(answers), answers)
        return isinstance(call, CallEnded) and call.exception is not None

    def _exercise_refusals(self) -> None:
        """Let each service refuse requests, and record the exceptions that escape."""
        for operation in self._operations() if self._returning_answers else ():
            for refusal in refusals_of(operation):
                answers = tuple(
                    refusal if answer.operation == operation else answer
                    for answer in self._returning_answers
                )
                call = self._call(self._arguments_for(answers), answers)
                if isinstance(call, CallDidNotReturn):
                    self._result.hangs.append(Hang(call.behaviour, answers))
                    return
                if isinstance(call, CallNotPossible) or time.monotonic() > self._deadline:
                    return
                for goal, value in call.outcomes:
                    self._result.answers_by_outcome[goal].setdefault(value, answers)
                if call.exception is not None:
                    self._record_refusal_failure(call.exception, answers, refusal)

    def _arguments_for(self, answers: Answers) -> Json:
        """Return the arguments; they contain the text that a service refuses, if it refuses one."""
        text = b"".join(answer.text for answer in answers)
        if not text:
            return self._arguments
        contents, folder = plain_contents(text), self._folder / "refused"
        return arguments_for(self._function, self._routine, contents, folder)[self._result.form]

    def _record_refusal_failure(
        self, exception: Json, answers: Answers, refusal: StubResponse
    ) -> None:
        crash = crash_of(exception, answers, self._function, self._root)
        if crash is None:
            return
        key = exception["type"], crash.file, crash.line
        if key in self._crash_counts:
            return
        if not crash.is_judged:
            if refusal.depends_on_content:
                self._result.uncaught_refusals.setdefault(exception["type"], crash)
        # Each service may refuse the same text as too long; report that crash once.
        elif key not in self._refusal_crashes and self._recurs(crash):
            self._refusal_crashes.add(key)
            self._result.crashes.append(crash)
