"""Robustness of a function against injected faults of a service."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.exploration.failures import crash_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.levels.app.accuracy.trials import InputTrial
    from ciguard.levels.app.exploration.failures import Crash
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.static_analysis.findings import ServiceFunction

Key: TypeAlias = tuple[str, str, int]
"""Type, file and line of an exception."""
_MAX_HANGS = 2
"""Number of calls that do not return after which no more calls are made."""


@dataclass(slots=True)
class UncaughtException:
    """An exception that a function does not catch."""

    crash: Crash
    input: ServiceInput
    """Input of the first call that raised the exception."""
    calls: int = 0
    """Number of calls that raised the exception."""


@dataclass(slots=True)
class Robustness:
    """Results of calls with injected faults."""

    function: ServiceFunction
    """The function that was called."""
    root: Path
    """Folder of the application."""
    known: frozenset[Key] = frozenset()
    """Exceptions that also occur without faults."""
    calls: int = 0
    """Number of calls with faults."""
    uncaught: dict[Key, UncaughtException] = field(default_factory=dict)
    hangs: Counter[str] = field(default_factory=Counter)
    """Behaviour instead of returning → number of calls."""

    @property
    def has_too_many_hangs(self) -> bool:
        """True if so many calls have not returned that no more should be made."""
        return self.hangs.total() >= _MAX_HANGS

    @property
    def is_clean(self) -> bool:
        """True if no exception is the application's own; those of its clients are not defects."""
        return not any(exception.crash.is_judged for exception in self.uncaught.values())

    def observe(self, trial: InputTrial) -> None:
        """Add the result of a call."""
        self.calls += 1
        if trial.problem:
            self.hangs[trial.problem] += 1
        for key, crash in exceptions([trial], self.function, self.root):
            if key not in self.known:
                self.uncaught.setdefault(key, UncaughtException(crash, trial.input)).calls += 1


def exceptions(
    trials: Iterable[InputTrial], function: ServiceFunction, root: Path
) -> Iterator[tuple[Key, Crash]]:
    """Yield the crashes of calls, each with the key by which equal crashes are counted.

    Args:
        trials: the calls.
        function: the function that was called.
        root: the folder of the application.
    """
    for trial in trials:
        crash = (
            crash_of(trial.exception, (), function, root) if trial.exception is not None else None
        )
        if crash is not None:
            yield (trial.exception["type"], crash.file, crash.line), crash
