"""Verdicts on sub-conditions by their recall on synthesised inputs, with suggested repairs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.accuracy.generated_inputs import MIN_INPUTS
from ciguard.levels.app.accuracy.patch_verification import run_patched
from ciguard.levels.app.accuracy.polarity import PolarityRecall, conjuncts_of, polarity_recall
from ciguard.levels.app.input_synthesis.inputs import Sentiment
from ciguard.levels.app.providers.description import Field, RecognitionTask, media_kind
from ciguard.levels.app.repair.labels import (
    Extension,
    Observation,
    contains_label,
    equals_label,
    extend_labels,
    lower_case_match,
)
from ciguard.levels.app.repair.measures import (
    BranchCounts,
    Change,
    count_inputs,
    held_out_indices,
    is_below,
)
from ciguard.levels.app.repair.patches import add_labels, replace_threshold
from ciguard.levels.app.repair.suggestions import (
    Suggestion,
    suggest_labels,
    suggest_threshold,
)
from ciguard.levels.app.repair.thresholds import (
    ScoredText,
    Shares,
    Threshold,
    fit_threshold,
    is_mixed,
    shares,
)
from ciguard.levels.app.virtualization.service import RealService
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
SERVICE_ENGINES = frozenset({RealService().name, f"recording of {RealService().name}"})
"""Names of engines whose answers come from the real service, live or recorded."""


@dataclass(frozen=True, slots=True)
class ConditionVerdict:
    """Verdict on a sub-condition, from trials with inputs that should make it true."""

    goal: Goal
    engine: str
    """Name of the engine that answered."""
    is_simulated: bool
    """True if the answers were simulated."""
    is_of_service: bool
    """True if the answers come from the real service, live or recorded."""
    measured: BranchCounts | None = None
    """Counts of inputs; None for sentiment."""
    true_shares: Shares | None = None
    """Shares of positive and negative texts that make it true; None unless it tests a sentiment."""
    low_recall: PolarityRecall | None = None
    """Recall of the polarity that it is for, if that is too low; else None."""
    is_failure: bool = False
    suggestion: Suggestion | None = None
    missed_inputs: tuple[ServiceInput, ...] = ()
    """Inputs that should make the sub-condition true, and do not. For sentiment without a low
    recall: texts that make it true although their sentiment makes it true more rarely than the
    opposite one."""
    recognised: tuple[str, ...] = ()
    """Labels that the service returned for the missed inputs, the most frequent first."""

    @property
    def claim(self) -> str:
        """Summary for the report."""
        if self.true_shares is not None:
            positive, negative = self.true_shares
            claim = f"true for {positive:.0%} of positive and {negative:.0%} of negative texts"
            return f"{claim}; {self.low_recall.claim}" if self.low_recall is not None else claim
        if self.measured is None:
            return "not measured"
        return (
            f"true for {self.measured.correct} of {self.measured.expected} inputs that should make "
            f"it true; precision {self.measured.precision:.0%}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionJudge:
    """Judge the sub-conditions of one function."""

    explored: ExploredFunction
    settings: AccuracySettings
    application: Application
    python: str
    """Interpreter that has the application's libraries."""
    deadline: float
    """Time after which no patched application is run, by `time.monotonic`."""

    def verdict(
        self, aim: Aim, trials: Sequence[InputTrial], engines: EngineChain
    ) -> ConditionVerdict | None:
        """Return the verdict on the sub-condition of an aim; None if there are too few inputs.

        Args:
            aim: the sub-condition, and specifications of inputs that should make it true.
            trials: the calls by which the function's sub-conditions are judged.
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
            if trial.input.kind is media_kind(aim.operation.task)
            and (engine.name in SERVICE_ENGINES or not _is_misread(trial, aim))
            # A simulated engine recognises only unchanged inputs.
            and (trial.got_input_unchanged or not engine.is_simulated)
        ]
        exercised = [
            (trial.input.wanted in aim.wanted, trial.exercises(aim.goal)) for trial in same_kind
        ]
        counts = count_inputs(exercised)
        if counts.expected < MIN_INPUTS:
            return None
        is_failure = is_below(counts, self.settings.options.alpha)
        missed_inputs = [
            trial
            for trial, (is_expected, is_taken) in zip(same_kind, exercised, strict=True)
            if is_expected and not is_taken
        ]
        returned = Counter(
            key
            for trial in missed_inputs
            if aim.operation in trial.answers
            for key in trial.answers[aim.operation].keys
        )
        return ConditionVerdict(
            aim.goal,
            engine.name,
            engine.is_simulated,
            engine.name in SERVICE_ENGINES,
            measured=counts,
            is_failure=is_failure,
            suggestion=self._label_suggestion(aim, same_kind, engines) if is_failure else None,
            missed_inputs=tuple(trial.input for trial in missed_inputs),
            recognised=tuple(key for key, _ in returned.most_common(_MAX_SHOWN)),
        )

    def _label_suggestion(
        self, aim: Aim, trials: Sequence[InputTrial], engines: EngineChain
    ) -> Suggestion | None:
        """Suggest labels that raise the recall of the patched application; None if none do."""
        test = aim.goal.test
        if test is None or Field.KEY not in (aim.operation.fields or {}):
            return None
        matches = contains_label if test.operator == "holds" else equals_label
        observations = [
            Observation(trial.answers[aim.operation].keys, trial.input.wanted in aim.wanted)
            for trial in trials
            if aim.operation in trial.answers
        ]
        extension = extend_labels(
            aim.goal.texts,
            observations,
            lower_case_match(matches) if aim.is_lower_case else matches,
            related=self.settings.relatedness,
            alpha=self.settings.options.alpha,
        )
        if extension is None:
            return None
        source = read_source(self.application.root, aim.goal.branch.file)
        patch = add_labels(source, aim.goal.place, extension.added) if source else None
        if (
            patch is not None and not self.settings.options.is_real
        ):  # a repeated call would cost the user
            change = self._patched_change(aim, trials, patch, engines)
            if change is None:
                return None
            extension = Extension(extension.added, *change[0], held_out=change[1])
        return suggest_labels(extension, aim.goal.line, patch)

    def _patched_change(
        self, aim: Aim, trials: Sequence[InputTrial], patch: str, engines: EngineChain
    ) -> tuple[Change, Change | None] | None:
        """Run the patched application; return None if its recall is not higher or its F1 is lower.

        Returns:
            The changes on all inputs, and on the held-out ones, to which the patch was not fitted.
        """
        exercised = self._patched_exercises(aim, trials, patch, engines)
        if not exercised:
            return None
        expected = [trial.input.wanted in aim.wanted for trial in trials]
        exercised_before = [
            (is_expected, trial.exercises(aim.goal))
            for is_expected, trial in zip(expected, trials, strict=True)
        ]
        exercised_after = list(zip(expected, exercised, strict=True))
        held_out = sorted(held_out_indices(expected))
        changes = [
            Change(
                *(
                    count_inputs(exercised[index] for index in indices)
                    for exercised in (exercised_before, exercised_after)
                )
            )
            for indices in (range(len(expected)), held_out)
        ]
        on_all, on_held_out = changes
        if on_all.after.recall <= on_all.before.recall or on_all.after.f1 < on_all.before.f1:
            return None
        return on_all, on_held_out if held_out else None

    def _patched_exercises(
        self, aim: Aim, trials: Sequence[InputTrial], patch: str, engines: EngineChain
    ) -> list[bool]:
        """Return for each input whether it exercises the patched branch; empty if unknown."""
        return run_patched(
            patch,
            aim.goal,
            application=self.application,
            explored=self.explored,
            inputs=[trial.input for trial in trials],
            engines=engines,
            python=self.python,
            process_environment=self.settings.options.process_environment,
            deadline=self.deadline,
        )

    def _sentiment_verdict(
        self, aim: Aim, trials: Sequence[InputTrial], engine: Engine, engines: EngineChain
    ) -> ConditionVerdict | None:
        judged_sentiments = {Sentiment.POSITIVE, Sentiment.NEGATIVE}
        sentiment_trials = [
            trial
            for trial in trials
            if aim.operation in trial.answers and trial.input.wanted.feeling in judged_sentiments
        ]
        samples = [
            ScoredText(
                trial.answers[aim.operation].score,
                trial.answers[aim.operation].magnitude,
                trial.input.wanted.feeling is Sentiment.POSITIVE,
                aim.goal in trial.true_goals,
            )
            for trial in sentiment_trials
        ]
        if len(samples) < 2 * MIN_INPUTS:
            return None
        by_sentiment = shares(samples)
        alpha = self.settings.options.alpha
        recall = polarity_recall(aim.goal, aim.operation, self.explored, sentiment_trials)
        low_recall = recall if recall is not None and is_below(recall.counts, alpha) else None
        is_for_positive = by_sentiment.positive >= by_sentiment.negative
        if low_recall is not None:
            is_for_positive = low_recall.polarity is Sentiment.POSITIVE
        rarer_sentiment = Sentiment.NEGATIVE if is_for_positive else Sentiment.POSITIVE
        wrongly_true = tuple(
            trial.input
            for trial in sentiment_trials
            if trial.input.wanted.feeling is rarer_sentiment and aim.goal in trial.true_goals
        )
        is_failure = low_recall is not None or self._is_mixed(aim.goal, sentiment_trials)
        return ConditionVerdict(
            aim.goal,
            engine.name,
            engine.is_simulated,
            engine.name in SERVICE_ENGINES,
            true_shares=by_sentiment,
            low_recall=low_recall,
            is_failure=is_failure,
            missed_inputs=low_recall.missed if low_recall is not None else wrongly_true,
            suggestion=self._threshold_suggestion(
                aim,
                samples,
                is_for_positive=is_for_positive,
                trials=sentiment_trials,
                engines=engines,
            )
            if is_failure
            else None,
        )

    def _is_mixed(self, goal: Goal, trials: Sequence[InputTrial]) -> bool:
        """Return whether many texts of both sentiments take the branch of a sub-condition.

        In `magnitude > 0.1 and score < 0`, it is the second part that keeps them apart.
        """
        is_conjunction = conjuncts_of(goal.branch) > 1
        samples = [
            ScoredText(
                0.0,
                0.0,
                trial.input.wanted.feeling is Sentiment.POSITIVE,
                goal in trial.true_goals
                and (not is_conjunction or goal.branch in trial.taken_branches),
            )
            for trial in trials
        ]
        return is_mixed(shares(samples), share=1 - self.settings.options.alpha)

    def _threshold_suggestion(
        self,
        aim: Aim,
        samples: Sequence[ScoredText],
        *,
        is_for_positive: bool,
        trials: Sequence[InputTrial],
        engines: EngineChain,
    ) -> Suggestion | None:
        try:
            threshold = fit_threshold(samples, for_positive=is_for_positive)
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
            if patch is not None and not self.settings.options.is_real:
                threshold = self._verified_threshold(aim, trials, patch, threshold, engines)
                if threshold is None:
                    return None
        return suggest_threshold(threshold, aim.goal.line, patch, names=names)

    def _verified_threshold(
        self,
        aim: Aim,
        trials: Sequence[InputTrial],
        patch: str,
        threshold: Threshold,
        engines: EngineChain,
    ) -> Threshold | None:
        """Return a threshold with the shares after the patch; None if it is still a failure."""
        exercised = self._patched_exercises(aim, trials, patch, engines)
        if not exercised:
            return None
        samples = [
            ScoredText(0.0, 0.0, trial.input.wanted.feeling is Sentiment.POSITIVE, is_taken)
            for trial, is_taken in zip(trials, exercised, strict=True)
        ]
        after = shares(samples)
        alpha = self.settings.options.alpha
        if is_mixed(after, share=1 - alpha) or max(after) < alpha:
            return None
        return Threshold(threshold.line, threshold.before, after, threshold.held_out)


def _is_misread(trial: InputTrial, aim: Aim) -> bool:
    """Return whether the engine failed to recognise the text of an input.

    The application is not to blame for such an input.
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
