"""Injects faults between an application and an engine."""

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
from ciguard.levels.app.virtualization.engine import EngineWrapper
from ciguard.levels.app.virtualization.faults import Distortion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import Provider
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.virtualization.engine import Engine
    from ciguard.levels.app.virtualization.faults import Fault

_MAX_REPEATED = 100
"""Number of items in a repeated list."""
_MIN_FACTOR, _MAX_FACTOR = 0.02, 0.2
"""Bounds of the factor that lowers scores in an unsure answer."""
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
class FaultyEngine(EngineWrapper):
    """Wraps an engine, and delays or changes its answers. The class is thread-safe."""

    faults: tuple[Fault, ...]
    seed: int = 0
    waiting: Callable[[float], None] = time.sleep
    """Function that waits for a number of seconds."""
    _counts: Counter[tuple[int, str, str]] = field(
        default_factory=Counter, repr=False, compare=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return the engine's answer, delayed or changed by the faults; see `Engine`."""
        digest = digest_of(content)
        changes: list[tuple[Distortion, random.Random]] = []
        for index, fault in enumerate(self.faults):
            rng = random.Random(f"{self.seed} fault {index} {operation.title} {digest}")  # noqa: S311 - nothing secret is drawn
            if not self._is_affected(index, operation, digest, rng):
                continue
            self.waiting(rng.uniform(*fault.seconds))
            if fault.error is not None:
                raise ServiceError(fault.error, fault.message or _default_message(fault.error))
            if fault.answer is not None:
                changes.append((fault.answer, rng))
        answer = self.engine.answer(operation, content)
        for distortion, rng in changes:
            answer = _distort(distortion, answer, operation, rng)
        return answer

    def _is_affected(
        self, index: int, operation: Operation, digest: str, rng: random.Random
    ) -> bool:
        """Return whether the fault with this index affects the request."""
        fault = self.faults[index]
        if rng.random() >= fault.probability:
            return False
        if fault.operations and operation.name not in fault.operations:
            return False
        key = (index, operation.name, digest)
        with self._lock:
            self._counts[key] += bool(fault.times)
            return not fault.times or self._counts[key] <= fault.times


def with_faults(
    engines: Iterable[Engine],
    faults: Sequence[Fault],
    seed: int,
    *,
    waiting: Callable[[float], None] = time.sleep,
) -> tuple[Engine, ...]:
    """Return engines that inject faults; without faults, the given engines.

    Args:
        engines: the engines that answer.
        faults: the faults, in the order in which they apply.
        seed: seed that decides which contents are affected.
        waiting: function that waits for a number of seconds.
    """
    if not faults:
        return tuple(engines)
    return tuple(FaultyEngine(engine, tuple(faults), seed, waiting) for engine in engines)


def _default_message(code: Code) -> str:
    return _MESSAGES.get(code, f"{code.replace('_', ' ').capitalize()}.")


def _distort(
    distortion: Distortion, answer: Json, operation: Operation, rng: random.Random
) -> Json:
    """Return an answer after the change of a fault."""
    match distortion:
        case Distortion.NOTHING:
            return empty_answer(operation)
        case Distortion.UNSURE:
            provider = PROVIDERS.get(operation.provider)
            return _scale_scores(answer, rng.uniform(_MIN_FACTOR, _MAX_FACTOR), provider)
        case Distortion.MANY:
            return _repeat_list(
                answer, operation.results_path if operation.records else ("sentences",)
            )


def _repeat_list(content: Json, path: Sequence[str]) -> Json:
    """Return the answer with the list at a path repeated until it has 100 items.

    An empty list stays empty, and a longer one is unchanged.
    """
    if not path:
        return (
            (content * _MAX_REPEATED)[: max(_MAX_REPEATED, len(content))]
            if isinstance(content, list)
            else content
        )
    first, *rest = path
    if isinstance(content, list):
        return [
            _repeat_list(item, rest) if f"{index}" == first else item
            for index, item in enumerate(content)
        ]
    if not isinstance(content, dict) or not content.get(first):
        return content
    return {**content, first: _repeat_list(content[first], rest)}


def _scale_scores(content: Json, factor: float, provider: Provider) -> Json:
    """Return an answer with each score multiplied by a factor; scores that sum to 1 still do."""
    if isinstance(content, list):
        return [_scale_scores(item, factor, provider) for item in content]
    if not isinstance(content, dict):
        return content
    return {
        key: value * factor
        if key in provider.scores and isinstance(value, int | float)
        else _shrink_differences(value, factor)
        if key in provider.shares and isinstance(value, dict)
        else _scale_scores(value, factor, provider)
        for key, value in content.items()
    }


def _shrink_differences(shares: dict[str, float], factor: float) -> dict[str, float]:
    """Return scores with their distances from their mean multiplied by a factor."""
    mean = fmean(shares.values())
    return {name: mean + factor * (score - mean) for name, score in shares.items()}
