"""What services do on bad days, so that an application meets it on a good one."""

from __future__ import annotations

import copy
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.applications.answering.codes import Code
from ciguard.applications.answering.engine import ServiceError
from ciguard.applications.inverting.inputs import digest_of
from ciguard.applications.providers.description import Field
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.applications.answering.engine import Engine
    from ciguard.applications.providers.description import Operation
    from ciguard.domain import Json

_MANY = 50
"""Results at least; no service that applications are tried with gives more by itself."""
_UNSURE = 0.2
"""What scores are multiplied with."""


class Fault(StrEnum):
    """What a service does that applications forget."""

    EMPTY = "empty"
    """It recognises nothing: lists are empty, numbers are 0."""
    LOW_CONFIDENCE = "low confidence"
    """It is unsure: scores are a fifth of what they were."""
    MANY = "many"
    """It gives its results again and again, 50 or more."""
    UNAVAILABLE = "unavailable"
    """It cannot be reached; asking again helps."""
    INTERNAL = "internal"
    """It fails."""
    DEADLINE_EXCEEDED = "deadline exceeded"
    """It takes longer than the client waits."""
    PERMISSION_DENIED = "permission denied"
    """The account may not ask."""
    INVALID_ARGUMENT = "invalid argument"
    """It takes offence at what it is asked."""
    QUOTA = "quota"
    """The project has asked too often."""
    LATENCY = "latency"
    """It answers, late."""


_ERRORS = {
    Fault.UNAVAILABLE: (Code.UNAVAILABLE, "The service is currently unavailable."),
    Fault.INTERNAL: (Code.INTERNAL, "Internal error encountered."),
    Fault.DEADLINE_EXCEEDED: (Code.DEADLINE_EXCEEDED, "Deadline Exceeded"),
    Fault.PERMISSION_DENIED: (Code.PERMISSION_DENIED, "The caller does not have permission"),
    Fault.INVALID_ARGUMENT: (Code.INVALID_ARGUMENT, "Request contains an invalid argument."),
    Fault.QUOTA: (Code.RESOURCE_EXHAUSTED, "Quota exceeded for quota metric 'Requests'."),
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Faults by chance: which ones depends on the question, and how often it was asked before.

    Raises:
        ConfigurationError: if the rate is no share, or there are no kinds.
    """

    rate: float
    """Share of questions that meet one."""
    seed: int
    kinds: tuple[Fault, ...] = tuple(Fault)

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1 or not self.kinds:
            kinds = ", ".join(self.kinds) or "none"
            msg = f"faults: rate = {self.rate}, kinds = {kinds}: name a share and a kind at least."
            raise ConfigurationError(msg)

    def fault(self, question: str, asked: int) -> Fault | None:
        """Return what a question meets; None for nothing.

        Args:
            question: its operation and content.
            asked: how often it was asked before.
        """
        rng = random.Random(f"{self.seed} {asked} {question}")  # noqa: S311 - no secret
        return rng.choice(self.kinds) if rng.random() < self.rate else None


@dataclass(frozen=True, slots=True)
class Faulty:
    """An engine that has bad days."""

    engine: Engine
    faults: Drawn | Sequence[Fault | None]
    """By chance; or one for each question, in their order, and none for those that follow."""
    delay_s: float = 1.0
    """Of `Fault.LATENCY`."""
    pause: Callable[[float], None] = time.sleep
    _asked: Counter[str] = field(default_factory=Counter, init=False, compare=False)

    @property
    def name(self) -> str:
        """How reports call it."""
        return f"{self.engine.name}, with faults"

    @property
    def is_simulated(self) -> bool:
        """Whether its engine makes its answers up; the faults are made up in any case."""
        return self.engine.is_simulated

    def serves(self, operation: Operation) -> bool:
        """Tell whether its engine can be asked that."""
        return self.engine.serves(operation)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return the engine's answer, or what a fault makes of it.

        Args:
            operation: that is asked.
            about: content of an image or sound, or a text in UTF-8.

        Raises:
            ServiceError: if the service would answer with an error, or as a fault.
        """
        match self._next(operation, about):
            case None:
                return self.engine.answer(operation, about)
            case Fault.LATENCY:
                self.pause(self.delay_s)
                return self.engine.answer(operation, about)
            case Fault.EMPTY:
                self.engine.answer(operation, about)  # what it refuses, it refuses still
                return {}
            case Fault.LOW_CONFIDENCE:
                return _unsure(operation, self.engine.answer(operation, about))
            case Fault.MANY:
                return _many(operation, self.engine.answer(operation, about))
            case error:
                raise ServiceError(*_ERRORS[error])

    def _next(self, operation: Operation, about: bytes) -> Fault | None:
        if isinstance(self.faults, Drawn):
            question = f"{operation.title} {digest_of(about)}"
            asked = self._asked[question]
            self._asked[question] += 1
            return self.faults.fault(question, asked)
        asked = self._asked[""]
        self._asked[""] += 1
        return self.faults[asked] if asked < len(self.faults) else None


def _unsure(operation: Operation, answer: Json) -> Json:
    """Return an answer with smaller scores."""
    answer = copy.deepcopy(answer)
    fields = operation.fields or {}
    paths = [fields[one] for one in (Field.SCORE, Field.MAGNITUDE) if one in fields]
    for record in answer.get(operation.records, []) if operation.records else [answer]:
        for path in paths:
            _scale(record, path.split("."))
    return answer


def _scale(record: Json, path: Sequence[str]) -> None:
    """Make the number at a path smaller, where there is one."""
    *way, last = path
    for step in way:
        if isinstance(record, list):
            record = record[int(step)] if int(step) < len(record) else None
        elif isinstance(record, dict):
            record = record.get(step)
    if isinstance(record, dict) and isinstance(record.get(last), int | float):
        record[last] *= _UNSURE


def _many(operation: Operation, answer: Json) -> Json:
    """Return an answer with its results again and again."""
    records = answer.get(operation.records, []) if operation.records else []
    if not records:
        return answer
    times = -(-_MANY // len(records))
    return {**answer, operation.records: [copy.deepcopy(one) for one in records * times]}
