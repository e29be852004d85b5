"""Runs functions on inputs made for their sub-conditions, and notes what comes of it."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.levels.app.accuracy.aims import aims_of, brought_about
from ciguard.levels.app.accuracy.making import made_for
from ciguard.levels.app.accuracy.robustness import Robustness, exceptions
from ciguard.levels.app.accuracy.trials import Trials
from ciguard.levels.app.accuracy.verdicts import ConditionJudge, ConditionVerdict
from ciguard.levels.app.exploration.arguments import asked_about, takes_contents
from ciguard.levels.app.exploration.calling import FunctionCaller, host_of, routines_of
from ciguard.levels.app.exploration.failures import crash_of
from ciguard.levels.app.input_synthesis.inputs import InputSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.accuracy.aims import Aim
    from ciguard.levels.app.accuracy.trials import InputTrial
    from ciguard.levels.app.accuracy.trying import Settings
    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.exploration.failures import Crash
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.static_analysis.application import Application, Routine
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction


@dataclass(slots=True)
class Assessed:
    """What came of a function."""

    explored: ExploredFunction
    problem: str = ""
    """Why it was not tried; empty if it was."""
    trials: int = 0
    seen: frozenset[tuple[Goal, bool]] = frozenset()
    """How sub-conditions turned out with its inputs."""
    seconds: float = 0.0
    verdicts: list[ConditionVerdict] = field(default_factory=list)
    missing: list[InputSpec] = field(default_factory=list)
    """What no inputs could be made for."""
    crashes: list[tuple[Crash, ServiceInput]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Why inputs are not judged → how many."""
    robustness: Robustness | None = None
    """What it makes of faults; None where there were none."""

    @property
    def outcomes(self) -> tuple[int, int]:
        """How many outcomes of sub-conditions its inputs met, and of how many."""
        return len(self.seen), 2 * len(self.explored.met)

    @property
    def is_clean(self) -> bool:
        """Whether nothing crashes, and nothing fails that the service itself has answered."""
        if self.robustness is not None and not self.robustness.is_clean:
            return False
        failures = (one for one in self.verdicts if one.is_failure and one.is_of_service)
        return not self.crashes and not any(failures)


def assess(
    application: Application,
    found: Sequence[ServiceFunction],
    explored: Iterable[ExploredFunction],
    settings: Settings,
    *,
    python: str,
) -> Iterator[Assessed]:
    """Run functions on inputs made for their sub-conditions.

    A sub-condition that several functions reach is judged in the first of them.

    Args:
        application: as read.
        found: its functions that ask services.
        explored: the same, called with made answers; taken one by one.
        settings: how.
        python: interpreter that has what the application imports.

    Raises:
        WorkerStartError: if the interpreter does not start.
    """
    routines = routines_of(application)
    tried: set[Goal] = set()
    with (
        tempfile.TemporaryDirectory(prefix="ciguard-app-") as folder,
        host_of(
            application,
            found,
            python,
            is_real=settings.trying.is_real,
            surroundings=settings.trying.surroundings,
            inputs=Path(folder),
        ) as host,
    ):
        for one in explored:
            aims = [aim for aim in aims_of(one) if aim.goal not in tried]
            # What the service itself is asked costs its user.
            is_new = not (settings.trying.is_real or one.met.keys() <= tried)
            others = brought_about(one) if is_new else ()
            module, routine = routines[one.found.name]
            if one.problem:
                yield Assessed(one, one.problem)
                continue
            if not aims and not others:
                continue
            if not takes_contents(one.found, routine):
                yield Assessed(one, _ABOUT_NOTHING_GIVEN)
                continue
            tried.update(one.met)
            caller = FunctionCaller(host, one.found, module, routine)
            assessing = _Assessing(one, aims, settings, application, python)
            yield assessing.assessed(caller, routine, others, Path(folder))


_ABOUT_NOTHING_GIVEN = "what services are asked about is none of its parameters"


class _Assessing:
    """Of one function."""

    def __init__(
        self,
        explored: ExploredFunction,
        aims: Sequence[Aim],
        settings: Settings,
        application: Application,
        python: str,
    ) -> None:
        self._aims = aims
        self._settings = settings
        self._application = application
        self._root = application.root
        self._python = python
        self._deadline = 0.0
        self._crashed: set[tuple[str, int]] = set()
        self._result = Assessed(explored)

    def assessed(
        self, caller: FunctionCaller, routine: Routine, others: Sequence[InputSpec], folder: Path
    ) -> Assessed:
        began = time.monotonic()
        self._deadline = began + self._settings.trying.budget_s
        result = self._result
        inputs = self._made(others)
        engine = self._settings.serving(inputs)
        trials = Trials(caller, result.explored.found, routine, result.explored.form, engine)
        done: list[InputTrial] = []
        is_known = bool(asked_about(result.explored.found))
        for tried in inputs:
            if time.monotonic() > self._deadline:
                break
            # Each under a name of its own: an application may remember what it has seen.
            trial = trials.run(tried, folder / f"{len(done)}")
            if not is_known and not trial.is_as_given:
                result.problem = _ABOUT_NOTHING_GIVEN
                return result
            done.append(trial)
            self._note_crash(trial, trials, folder / f"{len(done)}-again")
        result.trials = len(done)
        result.seen = frozenset(pair for one in done for pair in one.seen)
        good = [one for one in done if not one.problem]
        result.left_out = Counter(one.problem for one in done if one.problem)
        if inputs and not done:
            result.problem = "making its inputs took all of its time: give it more"
        elif done and not good:
            result.problem = done[0].problem
        else:
            judging = self._judging(good)
            judge = ConditionJudge(
                explored=result.explored, settings=self._settings, application=self._application,
                python=self._python, deadline=self._deadline,
            )  # fmt: skip
            verdicts = (judge.verdict(aim, judging, engine) for aim in self._aims)
            result.verdicts = [one for one in verdicts if one is not None]
            if self._settings.faults:
                result.robustness = self._robustness(trials, done, folder)
        result.seconds = time.monotonic() - began
        return result

    def _made(self, others: Sequence[InputSpec]) -> Sequence[ServiceInput]:
        settings, result = self._settings, self._result
        made = made_for(
            self._aims, others, settings.inverse, settings.trying.inputs, seed=settings.trying.seed
        )
        result.missing = list(made.missing)
        return made.inputs

    def _judging(self, trials: Sequence[InputTrial]) -> list[InputTrial]:
        """Return the trials that sub-conditions are judged by: on what people mean by them."""
        wanted = {one for aim in self._aims for one in aim.wanted}
        return [
            one
            for one in trials
            if one.input.wanted in wanted or one.input.wanted == InputSpec(one.input.wanted.task)
        ]

    def _robustness(self, plain: Trials, done: Sequence[InputTrial], folder: Path) -> Robustness:
        """Call the function with the same inputs again, with faults between it and what answers."""
        found = self._result.explored.found
        known = frozenset(key for key, _ in exceptions(done, found, self._root))
        robustness = Robustness(found, self._root, known)
        trials = plain.with_faults(self._settings.faults, self._settings.trying.seed)
        deadline = time.monotonic() + self._settings.trying.budget_s / 2
        for at, trial in enumerate(done):
            if time.monotonic() > deadline or robustness.is_given_up:
                break
            robustness.note(trials.run(trial.input, folder / f"faults-{at}"))
        return robustness

    # --- failures ---------------------------------------------------------------------------------

    def _note_crash(self, trial: InputTrial, trials: Trials, folder: Path) -> None:
        """Note a failure that recurs in a new process; each kind at each line is looked at once."""
        crash = self._crash_of(trial)
        if crash is None or _name_of(crash) in self._crashed:
            return
        self._crashed.add(_name_of(crash))
        if self._settings.trying.is_real:  # not again at the user's cost
            self._result.crashes.append((crash, trial.input))
            return
        trials.restart()
        again = [self._crash_of(trials.run(trial.input, folder / name)) for name in "ab"]
        if all(one is not None and _name_of(one) == _name_of(crash) for one in again):
            self._result.crashes.append((crash, trial.input))

    def _crash_of(self, trial: InputTrial) -> Crash | None:
        if trial.raised is None:
            return None
        crash = crash_of(trial.raised, (), self._result.explored.found, self._root)
        return crash if crash is not None and crash.is_judged else None


def _name_of(crash: Crash) -> tuple[str, int]:
    return crash.error.partition(":")[0], crash.line
