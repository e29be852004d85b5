"""Judges what came of a function's trials, and suggests what would make it better."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.applications.answering.service import Service
from ciguard.applications.assessing.aims import aims_of, brought_about
from ciguard.applications.assessing.making import LEAST, made_for
from ciguard.applications.assessing.robustness import Robustness, exceptions
from ciguard.applications.assessing.trials import Trials
from ciguard.applications.assessing.verifying import exercised_with
from ciguard.applications.exploring.arguments import asked_about, takes_contents
from ciguard.applications.exploring.calling import FunctionCaller, host_of, routines_of
from ciguard.applications.exploring.explore import crash_of
from ciguard.applications.inverting.inputs import Feeling, InputSpec
from ciguard.applications.providers.description import Field, RecognitionTask, kind_of
from ciguard.applications.repairing.labels import (
    Extension,
    Observation,
    extended,
    is_one,
    is_within,
    lowered,
)
from ciguard.applications.repairing.measures import (
    ALPHA,
    BranchCounts,
    Change,
    is_below,
    kept_back,
    measured,
)
from ciguard.applications.repairing.patches import add_labels, replace_threshold
from ciguard.applications.repairing.suggestions import (
    Suggestion,
    more_labels,
    other_threshold,
)
from ciguard.applications.repairing.thresholds import (
    ScoredText,
    Shares,
    Threshold,
    fitted,
    is_mixed,
    shares,
)
from ciguard.errors import ConfigurationError
from ciguard.sources import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ciguard.applications.answering.chosen import Chosen
    from ciguard.applications.answering.engine import Engine
    from ciguard.applications.answering.faults import Fault
    from ciguard.applications.assessing.aims import Aim
    from ciguard.applications.assessing.trials import InputTrial
    from ciguard.applications.exploring.explore import Crash, ExploredFunction
    from ciguard.applications.exploring.surroundings import Surroundings
    from ciguard.applications.finding.application import Application, Routine
    from ciguard.applications.finding.conditions import Goal
    from ciguard.applications.finding.findings import ServiceFunction
    from ciguard.applications.inverting.inputs import Inverse, ServiceInput
    from ciguard.applications.repairing.relatedness import Relatedness

_SHOWN = 8
OF_SERVICE = frozenset({Service().name, f"recording of {Service().name}"})
"""Names of engines that are the service itself, or a recording of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How applications are tried."""

    inverse: Inverse
    """Makes inputs."""
    serving: Callable[[Sequence[ServiceInput]], Chosen]
    """Returns what answers in the place of the service, given all inputs of a function."""
    related: Relatedness
    """Labels that may be added to each other."""
    inputs: int = 100
    """Of a function, for all its sub-conditions together, as in the paper's evaluation."""
    alpha: float = ALPHA
    """Least recall that is no failure."""
    budget_s: float = 120.0
    """Of a function."""
    seed: int = 0
    is_real: bool = False
    """Whether the application asks the service itself."""
    surroundings: Surroundings | None = None
    """What the application has around it; None: as `Surroundings()`."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong on purpose, in calls of their own."""


@dataclass(frozen=True, slots=True)
class ConditionVerdict:
    """How a sub-condition does on the inputs made for it."""

    goal: Goal
    engine: str
    """What answered."""
    is_simulated: bool
    """Whether answers were made up."""
    is_of_service: bool
    """Whether the service itself has answered, now or once; else little is known of it."""
    measured: BranchCounts | None = None
    shares: Shares | None = None
    """Of feelings that make it true, where it is about sentiment."""
    is_failure: bool = False
    suggestion: Suggestion | None = None
    missed: tuple[ServiceInput, ...] = ()
    """Inputs made for it that do not make it true; of a sentiment, texts of that feeling which
    makes it true less often, and which make it true all the same."""
    recognised: tuple[str, ...] = ()
    """What the service said to these, the most frequent first."""

    @property
    def claim(self) -> str:
        """How it does, in words."""
        if self.shares is not None:
            positive, negative = self.shares
            return f"true for {positive:.0%} of positive and {negative:.0%} of negative texts"
        if self.measured is None:
            return "not measured"
        dead = ", so what follows is dead" if self.is_dead else ""
        return (
            f"true for {self.measured.right} of {self.measured.expected} inputs made for it{dead}; "
            f"precision {self.measured.precision:.0%}"
        )

    @property
    def is_dead(self) -> bool:
        """Whether no input made for it makes it true (Keeper, section 4.1.2)."""
        return self.measured is not None and self.measured.right == 0


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
            is_real=settings.is_real,
            surroundings=settings.surroundings,
            inputs=Path(folder),
        ) as host,
    ):
        for one in explored:
            aims = [aim for aim in aims_of(one) if aim.goal not in tried]
            # What the service itself is asked costs its user.
            is_new = not (settings.is_real or one.met.keys() <= tried)
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
        self._deadline = began + self._settings.budget_s
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
            verdicts = (self._judged(aim, judging, engine) for aim in self._aims)
            result.verdicts = [one for one in verdicts if one is not None]
            if self._settings.faults:
                result.robustness = self._robustness(trials, done, folder)
        result.seconds = time.monotonic() - began
        return result

    def _made(self, others: Sequence[InputSpec]) -> Sequence[ServiceInput]:
        settings, result = self._settings, self._result
        made = made_for(self._aims, others, settings.inverse, settings.inputs, seed=settings.seed)
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
        trials = plain.with_faults(self._settings.faults, self._settings.seed)
        deadline = time.monotonic() + self._settings.budget_s / 2
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
        if self._settings.is_real:  # not again at the user's cost
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

    # --- verdicts ---------------------------------------------------------------------------------

    def _judged(
        self, aim: Aim, trials: Sequence[InputTrial], engines: Chosen
    ) -> ConditionVerdict | None:
        engine = engines.engine_for(aim.operation)
        if engine is None:
            return None
        if aim.is_felt:
            return self._felt(aim, trials, engine, engines)
        same_kind = [
            one
            for one in trials
            if one.input.kind is kind_of(aim.operation.task)
            and (engine.name in OF_SERVICE or not _is_misread(one, aim))
            # Nobody can make up what something else is to be taken for.
            and (one.is_as_given or not engine.is_simulated)
        ]
        exercised = [(one.input.wanted in aim.wanted, one.exercises(aim.goal)) for one in same_kind]
        found = measured(exercised)
        if found.expected < LEAST:
            return None
        is_failure = is_below(found, self._settings.alpha)
        missed = [
            trial
            for trial, (is_expected, took) in zip(same_kind, exercised, strict=True)
            if is_expected and not took
        ]
        said = Counter(
            key
            for one in missed
            if aim.operation in one.said
            for key in one.said[aim.operation].keys
        )
        return ConditionVerdict(
            aim.goal,
            engine.name,
            engine.is_simulated,
            engine.name in OF_SERVICE,
            measured=found,
            is_failure=is_failure,
            suggestion=self._more_labels(aim, same_kind, engines) if is_failure else None,
            missed=tuple(one.input for one in missed),
            recognised=tuple(key for key, _ in said.most_common(_SHOWN)),
        )

    def _more_labels(
        self, aim: Aim, trials: Sequence[InputTrial], engines: Chosen
    ) -> Suggestion | None:
        """Return labels with which the application, run again, does better; None for none."""
        test = aim.goal.test
        if test is None or Field.KEY not in (aim.operation.fields or {}):
            return None
        matches = is_within if test.operator == "holds" else is_one
        observations = [
            Observation(trial.said[aim.operation].keys, trial.input.wanted in aim.wanted)
            for trial in trials
            if aim.operation in trial.said
        ]
        extension = extended(
            aim.goal.texts,
            observations,
            lowered(matches) if aim.is_lowered else matches,
            related=self._settings.related,
            alpha=self._settings.alpha,
        )
        if extension is None:
            return None
        source = read_source(self._root, aim.goal.branch.file)
        patch = add_labels(source, aim.goal.place, extension.added) if source else None
        if patch is not None and not self._settings.is_real:  # not again at the user's cost
            again = self._again(aim, trials, patch, engines)
            if again is None:
                return None
            extension = Extension(extension.added, *again[0], held_out=again[1])
        return more_labels(extension, aim.goal.line, patch)

    def _again(
        self, aim: Aim, trials: Sequence[InputTrial], patch: str, engines: Chosen
    ) -> tuple[Change, Change | None] | None:
        """Run the application as a patch makes it; None if it does no better.

        Returns:
            How it does on all inputs, and on those that the patch was not fitted to.
        """
        inputs = [one.input for one in trials]
        took = exercised_with(
            patch,
            aim.goal,
            application=self._application,
            explored=self._result.explored,
            inputs=inputs,
            engines=engines,
            python=self._python,
            surroundings=self._settings.surroundings,
            deadline=self._deadline,
        )
        if not took:
            return None
        expected = [one.wanted in aim.wanted for one in inputs]
        before = [
            (meant, one.exercises(aim.goal)) for meant, one in zip(expected, trials, strict=True)
        ]
        after = list(zip(expected, took, strict=True))
        held = sorted(kept_back(expected))
        changes = [
            Change(*(measured(several[at] for at in places) for several in (before, after)))
            for places in (range(len(expected)), held)
        ]
        whole, unseen = changes
        if whole.after.recall <= whole.before.recall or whole.after.f1 < whole.before.f1:
            return None
        return whole, unseen if held else None

    def _felt(
        self, aim: Aim, trials: Sequence[InputTrial], engine: Engine, engines: Chosen
    ) -> ConditionVerdict | None:
        told = {Feeling.POSITIVE, Feeling.NEGATIVE}
        felt = [
            one for one in trials if aim.operation in one.said and one.input.wanted.feeling in told
        ]
        samples = [
            ScoredText(
                one.said[aim.operation].score,
                one.said[aim.operation].magnitude,
                one.input.wanted.feeling is Feeling.POSITIVE,
                aim.goal in one.met,
            )
            for one in felt
        ]
        if len(samples) < 2 * LEAST:
            return None
        found = shares(samples)
        is_failure = is_mixed(found, share=1 - self._settings.alpha)
        rarer = Feeling.NEGATIVE if found.positive >= found.negative else Feeling.POSITIVE
        return ConditionVerdict(
            aim.goal,
            engine.name,
            engine.is_simulated,
            engine.name in OF_SERVICE,
            shares=found,
            is_failure=is_failure,
            missed=tuple(
                one.input
                for one in felt
                if one.input.wanted.feeling is rarer and aim.goal in one.met
            ),
            suggestion=self._threshold(aim, samples, found, trials=felt, engines=engines)
            if is_failure
            else None,
        )

    def _threshold(
        self,
        aim: Aim,
        samples: Sequence[ScoredText],
        found: Shares,
        *,
        trials: Sequence[InputTrial],
        engines: Chosen,
    ) -> Suggestion | None:
        try:
            threshold = fitted(samples, for_positive=found.positive >= found.negative)
        except ConfigurationError as error:
            return Suggestion(str(error))
        if threshold is None:
            return None
        fields = aim.operation.fields or {}
        names = (
            fields.get(Field.SCORE, "score").rpartition(".")[2],
            fields.get(Field.MAGNITUDE, "magnitude").rpartition(".")[2],
        )
        patch = None
        # Of a magnitude or something else, the score would have to be found first.
        if aim.steps[-2:-1] in {(f".{names[0]}",), (f"['{names[0]}']",)}:
            source = read_source(self._root, aim.goal.branch.file)
            if source is not None:
                patch = replace_threshold(source, aim.goal.place, threshold.line, names=names)
            if patch is not None and not self._settings.is_real:
                threshold = self._threshold_again(aim, trials, patch, threshold, engines)
                if threshold is None:
                    return None
        return other_threshold(threshold, aim.goal.line, patch, names=names)

    def _threshold_again(
        self,
        aim: Aim,
        trials: Sequence[InputTrial],
        patch: str,
        threshold: Threshold,
        engines: Chosen,
    ) -> Threshold | None:
        """Return a threshold with what the application, run again with it, really does."""
        took = exercised_with(
            patch,
            aim.goal,
            application=self._application,
            explored=self._result.explored,
            inputs=[one.input for one in trials],
            engines=engines,
            python=self._python,
            surroundings=self._settings.surroundings,
            deadline=self._deadline,
        )
        if not took:
            return None
        samples = [
            ScoredText(0.0, 0.0, one.input.wanted.feeling is Feeling.POSITIVE, is_taken)
            for one, is_taken in zip(trials, took, strict=True)
        ]
        after = shares(samples)
        if is_mixed(after, share=1 - self._settings.alpha):
            return None
        return Threshold(threshold.line, threshold.before, after, threshold.held_out)


def _name_of(crash: Crash) -> tuple[str, int]:
    return crash.error.partition(":")[0], crash.line


def _is_misread(trial: InputTrial, aim: Aim) -> bool:
    """Return whether an engine that is weaker than the service did not read or hear what is there.

    That is not held against the application.
    """
    key = trial.input.wanted.key
    if aim.operation.task not in {RecognitionTask.TEXT, RecognitionTask.SPEECH} or not key:
        return False
    said = trial.said.get(aim.operation)
    return said is not None and _words(key) not in _words(" ".join(said.keys))


def _words(text: str) -> str:
    """Return the words of a text between spaces, without what stands between them."""
    words = re.findall(r"\w+", text.casefold())
    return f" {' '.join(words)} "
