"""Judges how sub-conditions do on the inputs made for them, and suggests what would do better."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.accuracy.making import LEAST
from ciguard.levels.app.accuracy.verifying import exercised_with
from ciguard.levels.app.input_synthesis.inputs import Feeling
from ciguard.levels.app.providers.description import Field, RecognitionTask, kind_of
from ciguard.levels.app.repair.labels import (
    Extension,
    Observation,
    extended,
    is_one,
    is_within,
    lowered,
)
from ciguard.levels.app.repair.measures import (
    BranchCounts,
    Change,
    is_below,
    kept_back,
    measured,
)
from ciguard.levels.app.repair.patches import add_labels, replace_threshold
from ciguard.levels.app.repair.suggestions import (
    Suggestion,
    more_labels,
    other_threshold,
)
from ciguard.levels.app.repair.thresholds import (
    ScoredText,
    Shares,
    Threshold,
    fitted,
    is_mixed,
    shares,
)
from ciguard.levels.app.virtualization.service import Service
from ciguard.sources import read_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.app.accuracy.aims import Aim
    from ciguard.levels.app.accuracy.trials import InputTrial
    from ciguard.levels.app.accuracy.trying import Settings
    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.virtualization.chosen import Chosen
    from ciguard.levels.app.virtualization.engine import Engine

_SHOWN = 8
OF_SERVICE = frozenset({Service().name, f"recording of {Service().name}"})
"""Names of engines that are the service itself, or a recording of it."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionJudge:
    """Judges the sub-conditions of one function."""

    explored: ExploredFunction
    settings: Settings
    application: Application
    python: str
    """Interpreter that has what the application imports."""
    deadline: float
    """Of `time.monotonic`, for running the application again as a patch makes it."""

    def verdict(
        self, aim: Aim, trials: Sequence[InputTrial], engines: Chosen
    ) -> ConditionVerdict | None:
        """Return how one sub-condition does; None where too few inputs say so.

        Args:
            aim: the sub-condition, and the inputs that it is meant for.
            trials: calls of the function with inputs that sub-conditions are judged by.
            engines: what answered them.
        """
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
        is_failure = is_below(found, self.settings.trying.alpha)
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
            related=self.settings.related,
            alpha=self.settings.trying.alpha,
        )
        if extension is None:
            return None
        source = read_source(self.application.root, aim.goal.branch.file)
        patch = add_labels(source, aim.goal.place, extension.added) if source else None
        if patch is not None and not self.settings.trying.is_real:  # not again at the user's cost
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
        took = self._exercised(aim, trials, patch, engines)
        if not took:
            return None
        expected = [one.input.wanted in aim.wanted for one in trials]
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

    def _exercised(
        self, aim: Aim, trials: Sequence[InputTrial], patch: str, engines: Chosen
    ) -> list[bool]:
        """Return which inputs exercise a branch as a patch makes it; none where it cannot be."""
        return exercised_with(
            patch,
            aim.goal,
            application=self.application,
            explored=self.explored,
            inputs=[one.input for one in trials],
            engines=engines,
            python=self.python,
            surroundings=self.settings.trying.surroundings,
            deadline=self.deadline,
        )

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
        is_failure = is_mixed(found, share=1 - self.settings.trying.alpha)
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
            source = read_source(self.application.root, aim.goal.branch.file)
            if source is not None:
                patch = replace_threshold(source, aim.goal.place, threshold.line, names=names)
            if patch is not None and not self.settings.trying.is_real:
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
        took = self._exercised(aim, trials, patch, engines)
        if not took:
            return None
        samples = [
            ScoredText(0.0, 0.0, one.input.wanted.feeling is Feeling.POSITIVE, is_taken)
            for one, is_taken in zip(trials, took, strict=True)
        ]
        after = shares(samples)
        if is_mixed(after, share=1 - self.settings.trying.alpha):
            return None
        return Threshold(threshold.line, threshold.before, after, threshold.held_out)


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
