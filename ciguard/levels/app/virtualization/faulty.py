"""Puts faults between an application and an engine."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.inputs import digest_of
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.registered import PROVIDERS, empty_answer
from ciguard.levels.app.virtualization.engine import Passing
from ciguard.levels.app.virtualization.faults import Oddity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import Provider
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.virtualization.engine import Engine
    from ciguard.levels.app.virtualization.faults import Fault

_MANY = 100
_MIN_SURE, _MAX_SURE = 0.02, 0.2
"""What scores are multiplied with where nothing is sure."""
_MESSAGES = {
    Code.INVALID_ARGUMENT: "Request contains an invalid argument.",
    Code.DEADLINE_EXCEEDED: "Deadline Exceeded",
    Code.PERMISSION_DENIED: "The caller does not have permission.",
    Code.RESOURCE_EXHAUSTED: "Quota exceeded.",
    Code.INTERNAL: "Internal error encountered.",
    Code.UNAVAILABLE: "The service is currently unavailable.",
    Code.UNAUTHENTICATED: "Request had invalid authentication credentials.",
}


@dataclass(frozen=True, slots=True)
class Faulty(Passing):
    """Asks another engine, and has faults between. Several threads may ask it."""

    faults: tuple[Fault, ...]
    seed: int = 0
    waiting: Callable[[float], None] = time.sleep
    """Takes the seconds that an answer is late."""
    _met: Counter[tuple[int, str, str]] = field(default_factory=Counter, repr=False, compare=False)
    _meeting: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return the engine's answer, late or changed if a fault says so; see `Engine`."""
        digest = digest_of(about)
        changes: list[tuple[Oddity, random.Random]] = []
        for place, fault in enumerate(self.faults):
            rng = random.Random(f"{self.seed} fault {place} {operation.title} {digest}")  # noqa: S311 - no secret
            if not self._meets(place, operation, digest, rng):
                continue
            self.waiting(rng.uniform(*fault.seconds))
            if fault.error is not None:
                raise ServiceError(fault.error, fault.message or _usual(fault.error))
            if fault.answer is not None:
                changes.append((fault.answer, rng))
        answer = self.engine.answer(operation, about)
        for oddity, rng in changes:
            answer = _odd(oddity, answer, operation, rng)
        return answer

    def _meets(self, place: int, operation: Operation, digest: str, rng: random.Random) -> bool:
        """Return whether a fault meets a content, this time."""
        fault = self.faults[place]
        if rng.random() >= fault.probability:
            return False
        if fault.operations and operation.name not in fault.operations:
            return False
        key = (place, operation.name, digest)
        with self._meeting:
            self._met[key] += bool(fault.times)
            return not fault.times or self._met[key] <= fault.times


def with_faults(
    engines: Iterable[Engine],
    faults: Sequence[Fault],
    seed: int,
    *,
    waiting: Callable[[float], None] = time.sleep,
) -> tuple[Engine, ...]:
    """Return engines, each with faults before it; the same ones if there are none.

    Args:
        engines: that answer.
        faults: in their order.
        seed: decides which contents they meet.
        waiting: takes the seconds that an answer is late.
    """
    if not faults:
        return tuple(engines)
    return tuple(Faulty(engine, tuple(faults), seed, waiting) for engine in engines)


def _usual(code: Code) -> str:
    return _MESSAGES.get(code, f"{code.replace('_', ' ').capitalize()}.")


def _odd(oddity: Oddity, answer: Json, operation: Operation, rng: random.Random) -> Json:
    match oddity:
        case Oddity.NOTHING:
            return empty_answer(operation)
        case Oddity.UNSURE:
            provider = PROVIDERS.get(operation.provider)
            return _scaled(answer, rng.uniform(_MIN_SURE, _MAX_SURE), provider)
        case Oddity.MANY:
            return _repeated(answer, operation.way if operation.records else ("sentences",))


def _repeated(content: Json, path: Sequence[str]) -> Json:
    """Return an answer with the results at a path again and again; the same if there are none."""
    if not path:
        return (
            (content * _MANY)[: max(_MANY, len(content))] if isinstance(content, list) else content
        )
    first, *rest = path
    if isinstance(content, list):
        return [_repeated(one, rest) if f"{at}" == first else one for at, one in enumerate(content)]
    if not isinstance(content, dict) or not content.get(first):
        return content
    return {**content, first: _repeated(content[first], rest)}


def _scaled(content: Json, share: float, provider: Provider) -> Json:
    """Return an answer of a provider with a share of each score in it."""
    if isinstance(content, list):
        return [_scaled(one, share, provider) for one in content]
    if not isinstance(content, dict):
        return content
    return {
        key: value * share
        if key in provider.scores and isinstance(value, int | float)
        else _levelled(value, share)
        if key in provider.shares and isinstance(value, dict)
        else _scaled(value, share, provider)
        for key, value in content.items()
    }


def _levelled(shares: dict[str, float], share: float) -> dict[str, float]:
    """Return how sure each of several feelings is, all of them nearly alike."""
    mean = fmean(shares.values())
    return {name: mean + share * (one - mean) for name, one in shares.items()}
