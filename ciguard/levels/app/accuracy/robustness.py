"""What a function makes of a service that has faults."""

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
_MAX_ENDLESS = 2
"""Calls that do not return, after which no more are made."""


@dataclass(slots=True)
class LetThrough:
    """An exception that a function lets through."""

    crash: Crash
    input: ServiceInput
    """Of the first call."""
    calls: int = 0


@dataclass(slots=True)
class Robustness:
    """What came of calls with faults."""

    found: ServiceFunction
    """The function."""
    root: Path
    """Folder of the application."""
    known: frozenset[Key] = frozenset()
    """Exceptions that come without faults too."""
    calls: int = 0
    raised: dict[Key, LetThrough] = field(default_factory=dict)
    endless: Counter[str] = field(default_factory=Counter)
    """What it did instead of returning, and in how many calls."""

    @property
    def is_given_up(self) -> bool:
        """Whether no more calls are to be made."""
        return self.endless.total() >= _MAX_ENDLESS

    @property
    def is_clean(self) -> bool:
        """Whether the application itself raises nothing; a service's exceptions are no defect."""
        return not any(one.crash.is_judged for one in self.raised.values())

    def note(self, trial: InputTrial) -> None:
        """Note what came of a call."""
        self.calls += 1
        if trial.problem:
            self.endless[trial.problem] += 1
        for key, crash in exceptions([trial], self.found, self.root):
            if key not in self.known:
                self.raised.setdefault(key, LetThrough(crash, trial.input)).calls += 1


def exceptions(
    trials: Iterable[InputTrial], found: ServiceFunction, root: Path
) -> Iterator[tuple[Key, Crash]]:
    """Yield what calls have raised, by what is the same of two exceptions that are one.

    Args:
        trials: the calls.
        found: the function.
        root: folder of the application.
    """
    for trial in trials:
        crash = crash_of(trial.raised, (), found, root) if trial.raised is not None else None
        if crash is not None:
            yield (trial.raised["type"], crash.file, crash.line), crash
