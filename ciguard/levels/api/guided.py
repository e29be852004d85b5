"""Guided calls: mostly by feedback from outcomes, some always by the documentation alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.intent import Intent
from ciguard.knowledge import Experience, refined, understand
from ciguard.levels.api.call_mix import LEARNING, CallMix
from ciguard.levels.api.calls import CallGenerator

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord

UNREFINED = 0.15
"""Share of the calls that ignore feedback, so that no part of the input space is lost."""
MAX_NOTED = 480
"""Number of calls of an API that give feedback; later calls add little."""
_UPDATE_THRESHOLDS = (16, 48, 96, 160, 320, MAX_NOTED)
"""Numbers of observed calls at which the feedback is applied."""
_MIN_CALLS_BEFORE_SEARCH = 8
_MAX_LEARNING_CALLS = 160


class GuidedGenerator:
    """Generates calls of one API, guided by feedback from their outcomes."""

    def __init__(self, record: ApiRecord, experience: Experience | None = None) -> None:
        """Create the generator.

        Args:
            record: the catalogue's record of the API.
            experience: the experience of earlier campaigns.
        """
        self._api = understand(record)
        self._plain = CallGenerator(self._api)
        self.experience = Experience()
        self._guided = self._plain
        self._is_learning = False
        if experience is not None:
            self.learn(experience)

    def call(self, rng: random.Random, mix: CallMix) -> ApiCall:
        """Return the next call."""
        if self._guided is self._plain or rng.random() < UNREFINED:
            return self._plain.call(rng, mix)
        return self._guided.call(rng, LEARNING if self._is_learning else mix)

    def feedback(self, calls: Sequence[ApiCall], outcomes: Sequence[Outcome]) -> Experience:
        """Return the feedback from the outcomes of some calls without applying it."""
        feedback = Experience(noted=len(calls))
        plain = self._plain
        for call, outcome in zip(calls, outcomes, strict=False):
            if call.intent is Intent.CONFORMING:
                feedback.note(plain.arguments(call), plain.names, outcome)
            else:
                feedback.observe_violating(plain.arguments(call), outcome)
        return feedback

    def learn(self, feedback: Experience) -> None:
        """Apply feedback to the following calls."""
        count_before = self.experience.noted
        self.experience.update(feedback)
        if any(
            count_before < threshold <= self.experience.noted for threshold in _UPDATE_THRESHOLDS
        ):
            self._guided = self._compiled()
            is_new = self.experience.noted < _MAX_LEARNING_CALLS
            self._is_learning = is_new and self.experience.pass_rate < _POOR_PASS_RATE

    def _compiled(self) -> CallGenerator:
        experience = self.experience
        searches = not experience.examples and experience.judged >= _MIN_CALLS_BEFORE_SEARCH
        return CallGenerator(
            refined(self._api, experience),
            experience.examples,
            plain=self._plain,
            near=_NEIGHBOUR_SHARE
            if experience.pass_rate > _POOR_PASS_RATE
            else _NEIGHBOUR_SHARE_IF_POOR,
            searches=searches,
        )


_NEIGHBOUR_SHARE, _NEIGHBOUR_SHARE_IF_POOR = 0.4, 0.8
"""Shares of the calls near one that passed: normally, and while few other calls pass."""
_POOR_PASS_RATE = 0.6
