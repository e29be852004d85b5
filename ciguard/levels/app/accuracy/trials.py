"""Trials: calls to a function with inputs, while an engine answers in place of the service."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.arguments import arguments_for
from ciguard.levels.app.exploration.contents import plain_contents
from ciguard.levels.app.exploration.function_caller import (
    CallDidNotReturn,
    CallEnded,
    CallNotPossible,
)
from ciguard.levels.app.input_synthesis.inputs import digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.providers.registered import empty_answer
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.faulty import with_faults
from ciguard.levels.app.virtualization.recording import NotRecordedError, RecordingEngine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration.function_caller import Call, FunctionCaller
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.application import Routine
    from ciguard.levels.app.static_analysis.conditions import Branch, Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction
    from ciguard.levels.app.virtualization.faults import Fault


_FAULTY_CALL_LIMIT_S = 20.0


@dataclass(slots=True)
class RecordedAnswer:
    """The parts of an operation's answer by which sub-conditions are judged."""

    keys: tuple[str, ...] = ()
    """Names or texts of the results; empty for sentiment."""
    score: float = 0.0
    """Score of the sentiment."""
    magnitude: float = 0.0
    """Magnitude of the sentiment."""


@dataclass(slots=True)
class InputTrial:
    """One call to a function with one input."""

    input: ServiceInput
    got_input_unchanged: bool = False
    """True if a service got the input unchanged."""
    outcomes: frozenset[tuple[Goal, bool]] = frozenset()
    """Outcomes of sub-conditions."""
    true_goals: frozenset[Goal] = frozenset()
    """Sub-conditions that were true."""
    taken_branches: frozenset[Branch] = frozenset()
    """Branches whose whole condition was true."""
    answers: dict[Operation, RecordedAnswer] = field(default_factory=dict)
    exception: Json = None
    """Exception in the format of `CallEnded`; None if the call returned."""
    problem: str = ""
    """Reason why the trial is not judged; empty if it is."""

    def exercises(self, goal: Goal) -> bool:
        """Return whether the input makes a sub-condition true, or takes its branch."""
        return goal in self.true_goals or goal.branch in self.taken_branches


class _RequestLimitError(Exception):
    """A call still requests services after its time limit."""


class Trials:
    """Run one function on inputs."""

    def __init__(
        self,
        caller: FunctionCaller,
        function: ServiceFunction,
        routine: Routine,
        form: int,
        engines: EngineChain,
    ) -> None:
        """Create the trials.

        Args:
            caller: the caller of the function.
            function: the function.
            routine: its definition.
            form: the index of the arguments in the list that `arguments_for` returns.
            engines: the engines that answer in place of services.
        """
        self._caller = caller
        self._function = function
        self._routine = routine
        self._form = form
        self._engines = engines
        self._operations = {
            call.answer.operation.name: call.answer.operation for call in function.calls
        }

        self.delays: list[float] = []
        """Delays that faults add to the current answer, in seconds."""
        self.request_limit_s = math.inf
        """Time after which a call may make no more requests, in seconds; clients may retry long."""

    def with_faults(self, faults: Sequence[Fault], seed: int) -> Trials:
        """Return trials of the same function with injected faults.

        Args:
            faults: the faults, in the order of the file.
            seed: the seed by which faults choose the affected contents.
        """
        delays: list[float] = []
        engines = with_faults(self._engines.engines, faults, seed, waiting=delays.append)
        trials = Trials(
            self._caller, self._function, self._routine, self._form, EngineChain(engines)
        )
        trials.delays = delays
        trials.request_limit_s = _FAULTY_CALL_LIMIT_S
        return trials

    def restart(self) -> None:
        """Make the next call in a new process."""
        self._caller.restart()

    def run(self, service_input: ServiceInput, folder: Path) -> InputTrial:
        """Call the function with an input.

        Args:
            service_input: the input.
            folder: the folder for the file with the input.
        """
        trial = InputTrial(service_input)
        contents = {**plain_contents(), service_input.kind: service_input.content}
        forms = arguments_for(self._function, self._routine, contents, folder)

        start = time.monotonic()

        def answering(name: str, content: bytes, reply: Json) -> Json:
            if time.monotonic() - start > self.request_limit_s:
                raise _RequestLimitError
            if reply is None:
                self.delays.clear()
                return {**self._answer(name, content, trial), "late_s": sum(self.delays)}
            self._observe(name, content, reply, trial)
            return None

        try:
            call: Call = self._caller.call(forms[self._form], answering=answering)
        except _RequestLimitError:
            self._caller.restart()
            call = CallDidNotReturn("calls services without end")
        match call:
            case CallEnded(outcomes, taken_branches, _, exception, _):
                trial.outcomes = frozenset(outcomes)
                trial.true_goals = frozenset(goal for goal, value in outcomes if value)
                trial.taken_branches = taken_branches
                trial.exception = exception
            case CallNotPossible(reason):
                trial.problem = trial.problem or reason
            case CallDidNotReturn(behaviour):
                trial.problem = trial.problem or behaviour
        return trial

    def _answer(self, name: str, content: bytes, trial: InputTrial) -> Json:
        operation = self._operations.get(name)
        trial.got_input_unchanged |= digest_of(content) == trial.input.digest
        if operation is None or not self._engines.serves(operation):
            if operation is not None and operation.fields_of_others:
                return {"answer": empty_answer(operation)}  # engines answer the request's others
            return {
                "error": {"code": "UNIMPLEMENTED", "message": f"ciguard does not answer {name}"}
            }
        try:
            answer = self._engines.answer(operation, content)
        except NotRecordedError as error:
            trial.problem = str(error)
            # Clients do not retry after this code.
            return {"error": {"code": "FAILED_PRECONDITION", "message": "not recorded"}}
        except ServiceError as error:
            return {"error": {"code": error.code, "message": error.message}}
        trial.answers[operation] = _recorded_answer(operation, answer)
        return {"answer": answer}

    def _observe(self, name: str, content: bytes, reply: Json, trial: InputTrial) -> None:
        operation = self._operations.get(name)
        if operation is None:
            return
        error = reply.get("error")
        outcome = ServiceError(error["code"], error["message"]) if error else reply["answer"]
        engine = self._engines.engine_for(operation)
        if isinstance(engine, RecordingEngine):
            engine.keep(operation, content, outcome)
        if not error:
            trial.answers[operation] = _recorded_answer(operation, outcome)


def _recorded_answer(operation: Operation, answer: Json) -> RecordedAnswer:
    fields = operation.fields or {}
    records = _item_at(answer, operation.results_path) if operation.records else [answer]
    if operation.task is RecognitionTask.SENTIMENT:
        numbers = [
            _item_at(answer, _path(fields, field)) for field in (Field.SCORE, Field.MAGNITUDE)
        ]
        score, magnitude = (
            float(number) if isinstance(number, int | float) else 0.0 for number in numbers
        )
        return RecordedAnswer(score=score, magnitude=magnitude)
    keys = (_item_at(record, _path(fields, Field.KEY)) for record in records or [])
    return RecordedAnswer(tuple(key for key in keys if isinstance(key, str)))


def _path(fields: Mapping[Field, str], field: Field) -> list[str]:
    return fields.get(field, "").split(".")


def _item_at(content: Json, path: Sequence[str]) -> Json:
    """Return the item at a path of a message; None if the path does not exist."""
    for part in path:
        if isinstance(content, list) and part.isdecimal():
            content = content[int(part)] if int(part) < len(content) else None
        else:
            content = content.get(part) if isinstance(content, dict) else None
    return content
