"""Verdicts on sub-conditions by their inputs, with suggestions for repair."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.accuracy.generated_inputs import MIN_INPUTS
from ciguard.levels.app.accuracy.patch_verification import exercised_with
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
    held_out_indices,
    is_below,
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
    from ciguard.levels.app.accuracy.settings import AccuracySettings
    from ciguard.levels.app.accuracy.trials import InputTrial
    from ciguard.levels.app.exploration.explore import ExploredFunction
    from ciguard.levels.app.input_synthesis.inputs import ServiceInput
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.conditions import Goal
    from ciguard.levels.app.virtualization.engine import Engine
    from ciguard.levels.app.virtualization.engine_chain import EngineChain

_MAX_SHOWN = 8
OF_SERVICE = frozenset({Service().name, f"recording of {Service().name}"})
"""Names of engines that are the service itself, or a recording of it."""


@dataclass(frozen=True, slots=True)
class ConditionVerdict:
    """Verdict on a sub-condition by the inputs for it."""

    goal: Goal
    engine: str
    """Name of the engine that answered."""
    is_simulated: bool
    """True if the answers were simulated."""
    is_of_service: bool
    """True if the answers come from the real service, live or recorded."""
    measured: BranchCounts | None = None
    shares: Shares | None = None
    """Shares of positive and negative texts that make it true; None unless about sentiment."""
    is_failure: bool = False
    suggestion: Suggestion | None = None
    missed: tuple[ServiceInput, ...] = ()
    """Inputs for it that do not make it true. For sentiment: texts that make it true, of the
    sentiment that does so more rarely."""
    recognised: tuple[str, ...] = ()
    """Labels that the service returned for the missed inputs, the most frequent first."""

    @property
    def claim(self) -> str:
        """Summary for the report."""
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
        """True if no input for it makes it true (Keeper, section 4.1.2)."""
        return self.measured is not None and self.measured.right == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionJudge:
    """Judge the sub-conditions of one function."""

    explored: ExploredFunction
    settings: AccuracySettings
    application: Application
    python: str
    """Interpreter that has the application's libraries."""
    deadline: float
    """End of the time for runs of patched applications, by `time.monotonic`."""

    def verdict(
        self, aim: Aim, trials: Sequence[InputTrial], engines: EngineChain
    ) -> ConditionVerdict | None:
        """Return the verdict on one sub-condition; None if there are too few inputs.

        Args:
            aim: the sub-condition, and the inputs that it is meant for.
            trials: the calls of the function by which sub-conditions are judged.
            engines: the engines that answered.
        """
        engine = engines.engine_for(aim.operation)
        if engine is None:
            return None
        if aim.is_sentiment:
            return self._sentiment_verdict(aim, trials, engine, engines)
        same_kind = [
            trial
            for trial in trials
            if trial.input.kind is kind_of(aim.operation.task)
            and (engine.name in OF_SERVICE or not _is_misread(trial, aim))
            # A simulated engine cannot recognise a changed input.
            and (trial.is_as_given or not engine.is_simulated)
        ]
        exercised = [
            (trial.input.wanted in aim.wanted, trial.exercises(aim.goal)) for trial in same_kind
        ]
        counts = measured(exercised)
        if counts.expected < MIN_INPUTS:
            return None
        is_failure = is_below(counts, self.settings.trying.alpha)
        missed = [
            trial
            for trial, (is_expected, is_taken) in zip(same_kind, exercised, strict=True)
            if is_expected and not is_taken
        ]
        returned = Counter(
            key
            for trial in missed
            if aim.operation in trial.answers
            for key in trial.answers[aim.operation].keys
        )
        return ConditionVerdict(
            aim.goal,
            engine.name,
            engine.is_simulated,
            engine.name in OF_SERVICE,
            measured=counts,
            is_failure=is_failure,
            suggestion=self._more_labels(aim, same_kind, engines) if is_failure else None,
            missed=tuple(trial.input for trial in missed),
            recognised=tuple(key for key, _ in returned.most_common(_MAX_SHOWN)),
        )

    def _more_labels(
        self, aim: Aim, trials: Sequence[InputTrial], engines: EngineChain
    ) -> Suggestion | None:
        """Return labels that improve the patched application; None if there are none."""
        test = aim.goal.test
        if test is None or Field.KEY not in (aim.operation.fields or {}):
            return None
        matches = is_within if test.operator == "holds" else is_one
        observations = [
            Observation(trial.answers[aim.operation].keys, trial.input.wanted in aim.wanted)
            for trial in trials
            if aim.operation in trial.answers
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
        if (
            patch is not None and not self.settings.trying.is_real
        ):  # a repeated call would cost the user
            change = self._patched_change(aim, trials, patch, engines)
            if change is None:
                return None
            extension = Extension(extension.added, *change[0], held_out=change[1])
        return more_labels(extension, aim.goal.line, patch)

    def _patched_change(
        self, aim: Aim, trials: Sequence[InputTrial], patch: str, engines: EngineChain
    ) -> tuple[Change, Change | None] | None:
        """Run the patched application; return None if it is no better.

        Returns:
            The change on all inputs, and on the held-out ones that the patch was not fitted to.
        """
        took = self._exercised_when_patched(aim, trials, patch, engines)
        if not took:
            return None
        expected = [trial.input.wanted in aim.wanted for trial in trials]
        exercised_before = [
            (is_expected, trial.exercises(aim.goal))
            for is_expected, trial in zip(expected, trials, strict=True)
        ]
        exercised_after = list(zip(expected, took, strict=True))
        held_out = sorted(held_out_indices(expected))
        changes = [
            Change(
                *(
                    measured(exercised[index] for index in indices)
                    for exercised in (exercised_before, exercised_after)
                )
            )
            for indices in (range(len(expected)), held_out)
        ]
        on_all, on_held_out = changes
        if on_all.after.recall <= on_all.before.recall or on_all.after.f1 < on_all.before.f1:
            return None
        return on_all, on_held_out if held_out else None

    def _exercised_when_patched(
        self, aim: Aim, trials: Sequence[InputTrial], patch: str, engines: EngineChain
    ) -> list[bool]:
        """Return whether each input exercises the patched branch; empty if that is unknown."""
        return exercised_with(
            patch,
            aim.goal,
            application=self.application,
            explored=self.explored,
            inputs=[trial.input for trial in trials],
            engines=engines,
            python=self.python,
            process_environment=self.settings.trying.process_environment,
            deadline=self.deadline,
        )

    def _sentiment_verdict(
        self, aim: Aim, trials: Sequence[InputTrial], engine: Engine, engines: EngineChain
    ) -> ConditionVerdict | None:
        judged_sentiments = {Feeling.POSITIVE, Feeling.NEGATIVE}
        judged = [
            trial
            for trial in trials
            if aim.operation in trial.answers and trial.input.wanted.feeling in judged_sentiments
        ]
        samples = [
            ScoredText(
                trial.answers[aim.operation].score,
                trial.answers[aim.operation].magnitude,
                trial.input.wanted.feeling is Feeling.POSITIVE,
                aim.goal in trial.met,
            )
            for trial in judged
        ]
        if len(samples) < 2 * MIN_INPUTS:
            return None
        by_sentiment = shares(samples)
        is_failure = is_mixed(by_sentiment, share=1 - self.settings.trying.alpha)
        rarer = (
            Feeling.NEGATIVE if by_sentiment.positive >= by_sentiment.negative else Feeling.POSITIVE
        )
        return ConditionVerdict(
            aim.goal,
            engine.name,
            engine.is_simulated,
            engine.name in OF_SERVICE,
            shares=by_sentiment,
            is_failure=is_failure,
            missed=tuple(
                trial.input
                for trial in judged
                if trial.input.wanted.feeling is rarer and aim.goal in trial.met
            ),
            suggestion=self._threshold(aim, samples, by_sentiment, trials=judged, engines=engines)
            if is_failure
            else None,
        )

    def _threshold(
        self,
        aim: Aim,
        samples: Sequence[ScoredText],
        by_sentiment: Shares,
        *,
        trials: Sequence[InputTrial],
        engines: EngineChain,
    ) -> Suggestion | None:
        try:
            threshold = fitted(samples, for_positive=by_sentiment.positive >= by_sentiment.negative)
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
        # The patch needs a sub-condition that reads the score itself.
        if aim.steps[-2:-1] in {(f".{names[0]}",), (f"['{names[0]}']",)}:
            source = read_source(self.application.root, aim.goal.branch.file)
            if source is not None:
                patch = replace_threshold(source, aim.goal.place, threshold.line, names=names)
            if patch is not None and not self.settings.trying.is_real:
                threshold = self._verified_threshold(aim, trials, patch, threshold, engines)
                if threshold is None:
                    return None
        return other_threshold(threshold, aim.goal.line, patch, names=names)

    def _verified_threshold(
        self,
        aim: Aim,
        trials: Sequence[InputTrial],
        patch: str,
        threshold: Threshold,
        engines: EngineChain,
    ) -> Threshold | None:
        """Return a threshold with the measures of the patched application; None if no better."""
        took = self._exercised_when_patched(aim, trials, patch, engines)
        if not took:
            return None
        samples = [
            ScoredText(0.0, 0.0, trial.input.wanted.feeling is Feeling.POSITIVE, is_taken)
            for trial, is_taken in zip(trials, took, strict=True)
        ]
        after = shares(samples)
        if is_mixed(after, share=1 - self.settings.trying.alpha):
            return None
        return Threshold(threshold.line, threshold.before, after, threshold.held_out)


def _is_misread(trial: InputTrial, aim: Aim) -> bool:
    """Return whether the engine failed to recognise the text of an input.

    Such an input does not count against the application.
    """
    key = trial.input.wanted.key
    if aim.operation.task not in {RecognitionTask.TEXT, RecognitionTask.SPEECH} or not key:
        return False
    answer = trial.answers.get(aim.operation)
    return answer is not None and _words(key) not in _words(" ".join(answer.keys))


def _words(text: str) -> str:
    """Return the words of a text, separated by single spaces."""
    words = re.findall(r"\w+", text.casefold())
    return f" {' '.join(words)} "
