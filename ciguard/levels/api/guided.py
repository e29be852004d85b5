"""Guided calls: mostly by what outcomes have taught, always some by the documentation alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.intent import Intent
from ciguard.knowledge import Experience, refined, understand
from ciguard.levels.api.calls import CallGenerator
from ciguard.levels.api.mix import LEARNING, Mix

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord

UNREFINED = 0.15
"""Share of the calls that ignore what was learned: nothing that was drawn once is given up."""
MAX_NOTED = 480
"""Calls of an API that are learned from; later ones say little that is new."""
_COMPILED_AT = (16, 48, 96, 160, 320, MAX_NOTED)
"""Numbers of calls learned from at which what was learned is put to use."""
_SEARCH_AFTER = 8
_LEARNING_UNTIL = 160


class GuidedGenerator:
    """The calls of one API, and what their outcomes teach."""

    def __init__(self, record: ApiRecord, experience: Experience | None = None) -> None:
        """Make the generator.

        Args:
            record: what the library says of the API.
            experience: what earlier campaigns learned.
        """
        self._api = understand(record)
        self._plain = CallGenerator(self._api)
        self.experience = Experience()
        self._guided = self._plain
        self._is_learning = False
        if experience is not None:
            self.learn(experience)

    def call(self, rng: random.Random, mix: Mix) -> ApiCall:
        """Return the next call."""
        if self._guided is self._plain or rng.random() < UNREFINED:
            return self._plain.call(rng, mix)
        return self._guided.call(rng, LEARNING if self._is_learning else mix)

    def lesson(self, calls: Sequence[ApiCall], outcomes: Sequence[Outcome]) -> Experience:
        """Return what the outcomes of some calls teach; nothing is learned yet."""
        taught = Experience(noted=len(calls))
        plain = self._plain
        for call, outcome in zip(calls, outcomes, strict=False):
            if call.intent is Intent.CONFORMING:
                taught.note(plain.arguments(call), plain.names, outcome)
            else:
                taught.note_stray(plain.arguments(call), outcome)
        return taught

    def learn(self, lesson: Experience) -> None:
        """Put a lesson to use in the calls that follow."""
        before = self.experience.noted
        self.experience.absorb(lesson)
        if any(before < threshold <= self.experience.noted for threshold in _COMPILED_AT):
            self._guided = self._compiled()
            is_new = self.experience.noted < _LEARNING_UNTIL
            self._is_learning = is_new and self.experience.pass_rate < _POOR

    def _compiled(self) -> CallGenerator:
        known = self.experience
        searches = not known.examples and known.judged >= _SEARCH_AFTER
        return CallGenerator(
            refined(self._api, known),
            known.examples,
            plain=self._plain,
            near=_NEAR if known.pass_rate > _POOR else _NEARER,
            searches=searches,
        )


_NEAR, _NEARER = 0.4, 0.8
"""Share of the calls that stay near one that passed, the more the fewer others pass."""
_POOR = 0.6
