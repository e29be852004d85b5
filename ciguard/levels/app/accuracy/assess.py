"""Assessment of functions: calls with inputs that are synthesised for their sub-conditions."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.levels.app.accuracy.aims import aims_of, specs_of_outcomes
from ciguard.levels.app.accuracy.generated_inputs import synthesise_inputs
from ciguard.levels.app.accuracy.reasons import reasons_not_judged
from ciguard.levels.app.accuracy.robustness import Robustness, exceptions
from ciguard.levels.app.accuracy.trials import Trials
from ciguard.levels.app.accuracy.verdicts import ConditionJudge, ConditionVerdict
from ciguard.levels.app.exploration.arguments import has_input_parameter, input_parameters
from ciguard.levels.app.exploration.failures import crash_of
from ciguard.levels.app.exploration.function_caller import FunctionCaller, host_of, routines_of
from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.accuracy.aims import Aim
    from ciguard.levels.app.accuracy.settings import AccuracySettings
    from ciguard.levels.app.accuracy.trials import InputTrial
    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.exploration.failures import Crash
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.static_analysis.application import Application, Routine
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction


@dataclass(slots=True)
class Assessment:
    """Result of the assessment of a function."""

    explored: ExploredFunction
    problem: str = ""
    """Reason why the function was not run; empty if it was."""
    trials: int = 0
    """Number of calls with inputs."""
    reached_outcomes: frozenset[tuple[Goal, bool]] = frozenset()
    """Outcomes of sub-conditions in these calls."""
    seconds: float = 0.0
    verdicts: list[ConditionVerdict] = field(default_factory=list)
    missing: list[InputSpec] = field(default_factory=list)
    """Specifications for which no input could be synthesised."""
    crashes: list[tuple[Crash, ServiceInput]] = field(default_factory=list)
    """Crashes, each with the input of the call."""
    unjudged_goals: list[tuple[Goal, str]] = field(default_factory=list)
    """Sub-conditions that are not judged, each with the reason."""
    unjudged_inputs: Counter[str] = field(default_factory=Counter)
    """Reason why inputs are not judged → number of inputs."""
    robustness: Robustness | None = None
    """Result of the calls with injected faults; None if no faults were injected."""

    @property
    def outcome_counts(self) -> tuple[int, int]:
        """Number of reached outcomes of sub-conditions, and the total number."""
        return len(self.reached_outcomes), 2 * len(self.explored.answers_by_outcome)

    @property
    def is_clean(self) -> bool:
        """True if nothing crashes the function, and no verdict on the real service is a failure."""
        if self.robustness is not None and not self.robustness.is_clean:
            return False
        failures = (
            verdict for verdict in self.verdicts if verdict.is_failure and verdict.is_of_service
        )
        return not self.crashes and not any(failures)


def assess(
    application: Application,
    functions: Sequence[ServiceFunction],
    explored: Iterable[ExploredFunction],
    settings: AccuracySettings,
    *,
    python: str,
) -> Iterator[Assessment]:
    """Run functions on inputs that are synthesised for their sub-conditions.

    A sub-condition that several functions reach is judged in the first of them.

    Args:
        application: the parsed application.
        functions: its functions that call services.
        explored: the results of their exploration, consumed one by one.
        settings: the settings of the assessment.
        python: an interpreter that has the application's libraries.

    Raises:
        WorkerStartError: if the interpreter does not start.
    """
    routines = routines_of(application)
    judged_goals: set[Goal] = set()
    with (
        tempfile.TemporaryDirectory(prefix=scratch_prefix("app")) as folder,
        host_of(
            application,
            functions,
            python,
            is_real=settings.options.is_real,
            process_environment=settings.options.process_environment,
            inputs=Path(folder),
        ) as host,
    ):
        for result in explored:
            aims = [aim for aim in aims_of(result) if aim.goal not in judged_goals]
            judged_before = frozenset(judged_goals)
            # Calls of the real service cost the user money.
            is_skipped = (
                settings.options.is_real or result.answers_by_outcome.keys() <= judged_goals
            )
            extra_specs = () if is_skipped else specs_of_outcomes(result)
            module, routine = routines[result.function.name]
            if result.problem:
                yield Assessment(result, result.problem)
                continue
            if not aims and not extra_specs:
                continue
            if not has_input_parameter(result.function, routine):
                yield Assessment(result, _NO_INPUT_PARAMETER)
                continue
            judged_goals.update(result.answers_by_outcome)
            caller = FunctionCaller(host, result.function, module, routine)
            assessment = _FunctionAssessment(result, aims, settings, application, python)
            done = assessment.run(caller, routine, extra_specs, Path(folder))
            judged = {verdict.goal for verdict in done.verdicts} | judged_before
            aimed = {aim.goal for aim in aims}
            done.unjudged_goals = list(reasons_not_judged(result, aimed, judged))
            yield done


_NO_INPUT_PARAMETER = "no parameter of the function supplies the input of its service calls"


class _FunctionAssessment:
    """Assess one function."""

    def __init__(
        self,
        explored: ExploredFunction,
        aims: Sequence[Aim],
        settings: AccuracySettings,
        application: Application,
        python: str,
    ) -> None:
        self._aims = aims
        self._settings = settings
        self._application = application
        self._root = application.root
        self._python = python
        self._deadline = 0.0
        self._confirmed_crashes: set[tuple[str, int]] = set()
        self._result = Assessment(explored)

    def run(
        self,
        caller: FunctionCaller,
        routine: Routine,
        extra_specs: Sequence[InputSpec],
        folder: Path,
    ) -> Assessment:
        start = time.monotonic()
        self._deadline = start + self._settings.options.budget_s
        result = self._result
        inputs = self._synthesise(extra_specs)
        engine = self._settings.engines_for(inputs)
        trials = Trials(caller, result.explored.function, routine, result.explored.form, engine)
        input_trials: list[InputTrial] = []
        has_known_parameter = bool(input_parameters(result.explored.function))
        for service_input in inputs:
            if time.monotonic() > self._deadline:
                break
            # Each input gets its own file name, as an application may cache results by name.
            trial = trials.run(service_input, folder / f"{len(input_trials)}")
            if not has_known_parameter and not trial.got_input_unchanged:
                result.problem = _NO_INPUT_PARAMETER
                return result
            input_trials.append(trial)
            self._record_crash(trial, trials, folder / f"{len(input_trials)}-again")
        result.trials = len(input_trials)
        result.reached_outcomes = frozenset(
            pair for trial in input_trials for pair in trial.outcomes
        )
        judged_trials = [trial for trial in input_trials if not trial.problem]
        result.unjudged_inputs = Counter(trial.problem for trial in input_trials if trial.problem)
        if inputs and not input_trials:
            result.problem = (
                "the time budget ended before an input was synthesised. Increase the time budget"
            )
        elif input_trials and not judged_trials:
            result.problem = input_trials[0].problem
        else:
            aimed_trials = self._aimed_trials(judged_trials)
            judge = ConditionJudge(
                explored=result.explored, settings=self._settings, application=self._application,
                python=self._python, deadline=self._deadline,
            )  # fmt: skip
            verdicts = (judge.verdict(aim, aimed_trials, engine) for aim in self._aims)
            result.verdicts = [verdict for verdict in verdicts if verdict is not None]
            if self._settings.faults:
                result.robustness = self._robustness(trials, input_trials, folder)
        result.seconds = time.monotonic() - start
        return result

    def _synthesise(self, extra_specs: Sequence[InputSpec]) -> Sequence[ServiceInput]:
        settings, result = self._settings, self._result
        generated = synthesise_inputs(
            self._aims,
            extra_specs,
            settings.inverse,
            settings.options.inputs,
            seed=settings.options.seed,
        )
        result.missing = list(generated.missing)
        return generated.inputs

    def _aimed_trials(self, trials: Sequence[InputTrial]) -> list[InputTrial]:
        """Return the trials by which sub-conditions are judged: of aims, and of plain inputs."""
        aimed_specs = {spec for aim in self._aims for spec in aim.wanted}
        return [
            trial
            for trial in trials
            if trial.input.wanted in aimed_specs
            or trial.input.wanted == InputSpec(trial.input.wanted.task)
        ]

    def _robustness(
        self, fault_free: Trials, input_trials: Sequence[InputTrial], folder: Path
    ) -> Robustness:
        """Call the function with the same inputs again while faults are injected."""
        function = self._result.explored.function
        known = frozenset(key for key, _ in exceptions(input_trials, function, self._root))
        robustness = Robustness(function, self._root, known)
        trials = fault_free.with_faults(self._settings.faults, self._settings.options.seed)
        deadline = time.monotonic() + self._settings.options.budget_s / 2
        for index, trial in enumerate(input_trials):
            if time.monotonic() > deadline or robustness.has_too_many_hangs:
                break
            robustness.observe(trials.run(trial.input, folder / f"faults-{index}"))
        return robustness

    # --- failures ---------------------------------------------------------------------------------

    def _record_crash(self, trial: InputTrial, trials: Trials, folder: Path) -> None:
        """Record the crash of a trial if it recurs in a new process; skip known types and lines."""
        crash = self._crash_of(trial)
        if crash is None or _crash_key(crash) in self._confirmed_crashes:
            return
        self._confirmed_crashes.add(_crash_key(crash))
        if self._settings.options.is_real:  # a repeated call would cost the user
            self._result.crashes.append((crash, trial.input))
            return
        trials.restart()
        repeated = [self._crash_of(trials.run(trial.input, folder / name)) for name in "ab"]
        if all(other is not None and _crash_key(other) == _crash_key(crash) for other in repeated):
            self._result.crashes.append((crash, trial.input))

    def _crash_of(self, trial: InputTrial) -> Crash | None:
        if trial.exception is None:
            return None
        crash = crash_of(trial.exception, (), self._result.explored.function, self._root)
        return crash if crash is not None and crash.is_judged else None


def _crash_key(crash: Crash) -> tuple[str, int]:
    return crash.error.partition(":")[0], crash.line
