"""Runs a function on one input after the other, with an engine in the place of the service."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.arguments import arguments_for
from ciguard.levels.app.exploration.calling import CallEnded, Endless, Impossible
from ciguard.levels.app.exploration.contents import plain_contents
from ciguard.levels.app.input_synthesis.inputs import digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.virtualization.chosen import Chosen
from ciguard.levels.app.virtualization.faulty import with_faults
from ciguard.levels.app.virtualization.recording import NotRecordedError, Recording

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration.calling import Call, FunctionCaller
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.application import Routine
    from ciguard.levels.app.static_analysis.conditions import Branch, Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction
    from ciguard.levels.app.virtualization.faults import Fault


_PATIENCE_S = 20.0


@dataclass(slots=True)
class RecordedAnswer:
    """What an operation has answered to one input."""

    keys: tuple[str, ...] = ()
    score: float = 0.0
    magnitude: float = 0.0


@dataclass(slots=True)
class InputTrial:
    """One call of a function with one input."""

    input: ServiceInput
    is_as_given: bool = False
    """Whether a service was asked about the input itself, and not what was made of it."""
    seen: frozenset[tuple[Goal, bool]] = frozenset()
    """How sub-conditions turned out."""
    met: frozenset[Goal] = frozenset()
    """Sub-conditions that turned out true."""
    taken: frozenset[Branch] = frozenset()
    """Branches whose conditions did, as a whole."""
    said: dict[Operation, RecordedAnswer] = field(default_factory=dict)
    raised: Json = None
    """The exception, as `CallEnded` has it."""
    problem: str = ""
    """Why nothing can be said of it."""

    def exercises(self, goal: Goal) -> bool:
        """Return whether the input does what is meant of those made for a sub-condition.

        It makes that true; or its branch is taken all the same, by another sub-condition.
        """
        return goal in self.met or goal.branch in self.taken


class _ImpatientError(Exception):
    """A call goes on asking."""


class Trials:
    """Of one function."""

    def __init__(
        self,
        caller: FunctionCaller,
        found: ServiceFunction,
        routine: Routine,
        form: int,
        engines: Chosen,
    ) -> None:
        """Prepare it.

        Args:
            caller: of the function.
            found: the function.
            routine: its definition.
            form: of its arguments, among `arguments_for`.
            engines: answer.
        """
        self._caller = caller
        self._found = found
        self._routine = routine
        self._form = form
        self._engines = engines
        self._operations = {one.answer.operation.name: one.answer.operation for one in found.calls}

        self.late: list[float] = []
        """Seconds that the answer under way is late; the application waits for it."""
        self.patience_s = math.inf
        """That a call may ask for; a client asks again for minutes if a service refuses."""

    def with_faults(self, faults: Sequence[Fault], seed: int) -> Trials:
        """Return trials of the same function, with faults between it and what answers.

        Args:
            faults: in their order.
            seed: decides which contents they meet.
        """
        late: list[float] = []
        engines = with_faults(self._engines.engines, faults, seed, waiting=late.append)
        trials = Trials(self._caller, self._found, self._routine, self._form, Chosen(engines))
        trials.late = late
        trials.patience_s = _PATIENCE_S
        return trials

    def restart(self) -> None:
        """Make the next call in a new process."""
        self._caller.restart()

    def run(self, tried: ServiceInput, folder: Path) -> InputTrial:
        """Call the function with an input.

        Args:
            tried: the input.
            folder: for its file.
        """
        trial = InputTrial(tried)
        contents = {**plain_contents(), tried.kind: tried.content}
        forms = arguments_for(self._found, self._routine, contents, folder)

        began = time.monotonic()

        def answering(name: str, about: bytes, heard: Json) -> Json:
            if time.monotonic() - began > self.patience_s:
                raise _ImpatientError
            if heard is None:
                self.late.clear()
                return {**self._answer(name, about, trial), "late_s": sum(self.late)}
            self._hear(name, about, heard, trial)
            return None

        try:
            call: Call = self._caller.call(forms[self._form], answering=answering)
        except _ImpatientError:
            self._caller.restart()
            call = Endless("goes on asking")
        match call:
            case CallEnded(seen, taken, _, raised):
                trial.seen = frozenset(seen)
                trial.met = frozenset(goal for goal, value in seen if value)
                trial.taken = taken
                trial.raised = raised
            case Impossible(reason):
                trial.problem = trial.problem or reason
            case Endless(instead):
                trial.problem = trial.problem or instead
        return trial

    def _answer(self, name: str, about: bytes, trial: InputTrial) -> Json:
        operation = self._operations.get(name)
        trial.is_as_given |= digest_of(about) == trial.input.digest
        if operation is None or not self._engines.serves(operation):
            return {"error": {"code": "UNIMPLEMENTED", "message": f"{name} is not answered here"}}
        try:
            answer = self._engines.answer(operation, about)
        except NotRecordedError as error:
            trial.problem = str(error)
            # Of a code that clients do not wait and try again for.
            return {"error": {"code": "FAILED_PRECONDITION", "message": "not recorded"}}
        except ServiceError as error:
            return {"error": {"code": error.code, "message": error.message}}
        trial.said[operation] = _said(operation, answer)
        return {"answer": answer}

    def _hear(self, name: str, about: bytes, heard: Json, trial: InputTrial) -> None:
        operation = self._operations.get(name)
        if operation is None:
            return
        error = heard.get("error")
        outcome = ServiceError(error["code"], error["message"]) if error else heard["answer"]
        engine = self._engines.engine_for(operation)
        if isinstance(engine, Recording):
            engine.keep(operation, about, outcome)
        if not error:
            trial.said[operation] = _said(operation, outcome)


def _said(operation: Operation, answer: Json) -> RecordedAnswer:
    fields = operation.fields or {}
    records = _at(answer, operation.way) if operation.records else [answer]
    if operation.task is RecognitionTask.SENTIMENT:
        numbers = [_at(answer, _path(fields, one)) for one in (Field.SCORE, Field.MAGNITUDE)]
        score, magnitude = (float(one) if isinstance(one, int | float) else 0.0 for one in numbers)
        return RecordedAnswer(score=score, magnitude=magnitude)
    found = (_at(one, _path(fields, Field.KEY)) for one in records or [])
    return RecordedAnswer(tuple(one for one in found if isinstance(one, str)))


def _path(fields: Mapping[Field, str], field: Field) -> list[str]:
    return fields.get(field, "").split(".")


def _at(content: Json, path: Sequence[str]) -> Json:
    """Return what lies at a path; None where there is nothing."""
    for part in path:
        if isinstance(content, list) and part.isdecimal():
            content = content[int(part)] if int(part) < len(content) else None
        else:
            content = content.get(part) if isinstance(content, dict) else None
    return content
