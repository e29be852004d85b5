"""Guided calls: feedback from outcomes guides most calls, and the rest follow documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed
from ciguard.knowledge import Experience, refined, understand
from ciguard.levels.api.call_mix import CONFORMING, LEARNING, CallMix
from ciguard.levels.api.calls import CallGenerator

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.records import ApiRecord

UNGUIDED_SHARE = 0.15
"""Share of calls that ignore feedback, so that no part of the input space is lost."""
MAX_OBSERVED_CALLS = 480
"""Number of calls of an API whose outcomes are used as feedback; later outcomes add little."""
_UPDATE_THRESHOLDS = (16, 48, 96, 160, 320, MAX_OBSERVED_CALLS)
"""Numbers of observed calls at which a new generator is compiled from the feedback."""
_MIN_CALLS_BEFORE_SEARCH = 8
_MAX_LEARNING_CALLS = 160


class GuidedGenerator:
    """Generates calls of one API, guided by feedback from their outcomes."""

    def __init__(
        self,
        record: ApiRecord,
        experience: Experience | None = None,
        *,
        examples_conform: bool = False,
    ) -> None:
        """Create the generator.

        Args:
            record: the catalogue's record of the API.
            experience: the experience of earlier campaigns; None if there is none.
            examples_conform: whether only conforming calls that passed become examples. Otherwise,
                another call does, too, as long as no conforming one has passed.
        """
        self._api = understand(record)
        self._examples_conform = examples_conform
        self._base_generator = CallGenerator(self._api)
        self.experience = Experience()
        self._guided_generator: CallGenerator | None = self._base_generator
        """Generator with feedback; None if it must be compiled again."""
        self._is_learning = False
        if experience is not None:
            self.learn(experience.with_conforming_examples() if examples_conform else experience)

    def call(self, rng: random.Random, mix: CallMix) -> ApiCall:
        """Return the next call, drawn with `rng` in the shares of `mix`."""
        if self._guided_generator is self._base_generator or rng.random() < UNGUIDED_SHARE:
            return self._base_generator.call(rng, mix)
        if self._guided_generator is None:
            self._guided_generator = self._compiled_generator()
        return self._guided_generator.call(rng, LEARNING if self._is_learning else mix)

    def passed_calls(self, experience: Experience, rng: random.Random) -> Iterator[ApiCall]:
        """Yield the calls of an experience that passed."""
        for example in experience.examples:
            yield self._base_generator.example(example, rng)

    def conforming_call(self, rng: random.Random) -> ApiCall:
        """Return a call that conforms to the documentation."""
        return self._base_generator.call(rng, CONFORMING)

    def example_call(self, number: int, rng: random.Random) -> ApiCall | None:
        """Return a call like an example, another one for each number; None without examples.

        It counts as conforming, so all examples should conform.
        """
        examples = self.experience.examples
        if not examples:
            return None
        return self._base_generator.example(examples[number % len(examples)], rng)

    def with_contents(
        self, call: ApiCall, rng: random.Random, number: int | None = None
    ) -> ApiCall | None:
        """Return a call with other elements in its tensors; see `CallGenerator.with_contents`."""
        return self._base_generator.with_contents(call, rng, number)

    def with_number_at_limit(
        self, call: ApiCall, number: int, rng: random.Random
    ) -> ApiCall | None:
        """Return a call with a number at a limit; see `CallGenerator.with_number_at_limit`."""
        return self._base_generator.with_number_at_limit(call, number, rng)

    def with_option(self, call: ApiCall, number: int, rng: random.Random) -> ApiCall | None:
        """Return a call with one argument replaced or added; see `CallGenerator.with_option`."""
        return self._base_generator.with_option(call, number, rng)

    def battery(self, call: ApiCall, rng: random.Random) -> list[ApiCall]:
        """Return all calls with one change; see `CallGenerator.battery`."""
        return self._base_generator.battery(call, rng)

    def at_limits(self, call: ApiCall, rng: random.Random) -> list[ApiCall]:
        """Return all calls with one change to a limit; see `CallGenerator.at_limits`."""
        return self._base_generator.at_limits(call, rng)

    def with_joint_change(self, call: ApiCall, rng: random.Random) -> ApiCall | None:
        """Return a call whose tensors all changed alike; see `CallGenerator.with_joint_change`."""
        return self._base_generator.with_joint_change(call, rng)

    def feedback(self, calls: Sequence[ApiCall], outcomes: Sequence[Outcome]) -> Experience:
        """Return the feedback from the outcomes of calls, without applying it."""
        feedback = Experience(noted=len(calls))
        generator = self._base_generator
        for call, outcome in zip(calls, outcomes, strict=False):
            if call.intent is Intent.CONFORMING:
                values = generator.arguments(call)
                feedback.note(values, generator.names, outcome, operator=self._api.record.operator)
            elif self._examples_conform:
                continue
            elif isinstance(outcome, Passed) and not feedback.examples:
                feedback.observe_violating(generator.arguments(call), outcome)
        return feedback

    def argument_kinds(self, call: ApiCall) -> Iterator[tuple[str, str]]:
        """Yield the kinds of each argument's parameter and value; see `TabulatedLevel`."""
        return self._base_generator.argument_kinds(call)

    def learn(self, feedback: Experience) -> None:
        """Apply feedback to the following calls."""
        count = self.experience.noted
        passes_threshold = any(
            count < threshold <= count + feedback.noted for threshold in _UPDATE_THRESHOLDS
        )
        if self._guided_generator is None and not passes_threshold:
            # It depends on the feedback up to its threshold only, whenever it is compiled.
            self._guided_generator = self._compiled_generator()
        self.experience.update(feedback)
        if passes_threshold or feedback.observed:
            self._guided_generator = None  # compiled with the next call, as there may be none
            is_new = self.experience.noted < _MAX_LEARNING_CALLS and not self.experience.observed
            self._is_learning = is_new and self.experience.pass_rate < _POOR_PASS_RATE

    def _compiled_generator(self) -> CallGenerator:
        experience = self.experience
        is_searching = not experience.models and experience.judged >= _MIN_CALLS_BEFORE_SEARCH
        return CallGenerator(
            refined(self._api, experience),
            experience.models,
            base_generator=self._base_generator,
            neighbour_share=_NEIGHBOUR_SHARE
            if experience.pass_rate > _POOR_PASS_RATE
            else _NEIGHBOUR_SHARE_IF_POOR,
            is_searching=is_searching,
        )


_NEIGHBOUR_SHARE, _NEIGHBOUR_SHARE_IF_POOR = 0.4, 0.8
"""Shares of calls near an example: normally, and while few calls pass."""
_POOR_PASS_RATE = 0.6
"""Pass rate below which few calls of an API pass."""
