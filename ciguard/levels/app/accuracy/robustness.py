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
"""Number of calls without return after which no more are made."""


@dataclass(slots=True)
class UncaughtException:
    """An exception that a function does not catch."""

    crash: Crash
    input: ServiceInput
    """Input of the first call that raised it."""
    calls: int = 0


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
    raised: dict[Key, UncaughtException] = field(default_factory=dict)
    endless: Counter[str] = field(default_factory=Counter)
    """Description of what calls did instead of returning → number of calls."""

    @property
    def is_given_up(self) -> bool:
        """True if no more calls should be made."""
        return self.endless.total() >= _MAX_HANGS

    @property
    def is_clean(self) -> bool:
        """True if the application itself raises nothing; exceptions of a client are no defect."""
        return not any(exception.crash.is_judged for exception in self.raised.values())

    def observe(self, trial: InputTrial) -> None:
        """Add the result of a call."""
        self.calls += 1
        if trial.problem:
            self.endless[trial.problem] += 1
        for key, crash in exceptions([trial], self.function, self.root):
            if key not in self.known:
                self.raised.setdefault(key, UncaughtException(crash, trial.input)).calls += 1


def exceptions(
    trials: Iterable[InputTrial], function: ServiceFunction, root: Path
) -> Iterator[tuple[Key, Crash]]:
    """Yield the crashes of calls, each with its deduplication key.

    Args:
        trials: the calls.
        function: the function that was called.
        root: the folder of the application.
    """
    for trial in trials:
        crash = crash_of(trial.raised, (), function, root) if trial.raised is not None else None
        if crash is not None:
            yield (trial.raised["type"], crash.file, crash.line), crash
