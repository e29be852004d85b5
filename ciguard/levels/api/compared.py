"""Level `api` between backends: calls whose results can be compared, at little cost.

A backend that compiles each shape takes 20 to 500 times as long for a new shape as the others, and
as for a known one. So an API's first calls run on one cheap target only, from which the level
learns what the API accepts. Then calls that passed there run everywhere, each followed by calls
that differ in elements only, and by calls that differ in one option.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.intent import Intent
from ciguard.levels import Batch
from ciguard.levels.api.call_mix import TO_DIFFER, CallMix
from ciguard.levels.api.level import ApiLevel
from ciguard.levels.api.narrowing import narrowed

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord
    from ciguard.levels.api.guided import GuidedGenerator

_SCOUTING_CALLS = 16
"""Number of calls of a batch on one target, and about that of a batch on all targets."""
_SCOUTING_BATCHES = 3
"""Maximum number of batches of an API that run on one target, until a call of it has passed."""
_SCOUTING = CallMix(
    violating=0.0, boundary=0.0, two_boundaries=0.0, many_boundaries=0.0, optional=0.3
)
_CONTENTS_OF_EXAMPLE = 4
"""Number of calls with other elements that follow a call that passed."""
_OPTIONS = (1, 3)
"""Number of calls with another option, in an early batch and in later ones. Each may be compiled,
so early batches have few, and every API is compared soon."""
_LIMITS = (1, 3)
"""Number of calls with a number at a limit, in an early batch and in later ones. One backend may
refuse what the others accept, and what all refuse is not compiled."""
_JOINT_CHANGES = (0, 2)
"""Number of calls whose tensors change alike, in an early batch and in later ones."""
_DRAWN = (0, 3)
"""Number of calls that are drawn as usual, in an early batch and in later ones."""
_DRAWN_WITHOUT_EXAMPLE = 6
_NARROW_SHARE = 0.9
"""Share of calls with dtypes of at most 32 bits, since JAX has no others by default."""


class ComparedLevel(ApiLevel):
    """Calls of each API for targets that compute with different libraries.

    A call that passed is repeated as one that conforms, so calls that do not are no examples.
    """

    examples_conform: ClassVar[bool] = True

    def __init__(self, apis: Sequence[ApiRecord], seed: int) -> None:
        """Create the level for the records of APIs and the seed of the run."""
        super().__init__(apis, seed, sizes=(_SCOUTING_CALLS,), mixes=TO_DIFFER)

    def visit(self, api: str, number: int) -> Batch:
        """Return the batch of an API that follows `number` earlier ones.

        The first ones run on one target, until a call has passed.
        """
        record = self.record(api)
        generator = self.generator(api)
        rng = self.random_generator(api, number)
        has_passed = bool(generator.experience.examples)
        is_scouting = not has_passed and number < _SCOUTING_BATCHES
        calls = (
            [generator.call(rng, _SCOUTING) for _ in range(_SCOUTING_CALLS)]
            if is_scouting
            else list(_compared_calls(generator, number, rng))
        )
        cases = tuple([narrowed(call) if rng.random() < _NARROW_SHARE else call for call in calls])
        return Batch(api=api, kind=record.kind, cases=cases, is_scouting=is_scouting)


def _compared_calls(
    generator: GuidedGenerator, number: int, rng: random.Random
) -> Iterator[ApiCall]:
    """Yield the calls of one batch for all targets."""
    is_later = number > 1
    known = generator.example_call(number, rng)
    if known is not None:
        yield known
        turn = number // len(generator.experience.examples)
        yield from _numbered_contents(generator, known, turn, rng)
        for index in range(_OPTIONS[is_later]):
            other = generator.with_option(known, number * _OPTIONS[1] + index, rng)
            if other is not None:
                yield other
                yield from _with_contents(generator, other, rng)
        start = max(0, _LIMITS[0] + (turn - 2) * _LIMITS[1])
        for index in range(start, start + _LIMITS[is_later]):
            at_limit = generator.with_number_at_limit(known, index, rng)
            if at_limit is not None:
                yield at_limit
        for _ in range(_JOINT_CHANGES[is_later]):
            changed = generator.with_joint_change(known, rng)
            if changed is not None:
                yield changed
    mix = TO_DIFFER.later if is_later else TO_DIFFER.first
    for _ in range(_DRAWN[is_later] if known is not None else _DRAWN_WITHOUT_EXAMPLE):
        drawn = generator.call(rng, mix)
        yield drawn
        if drawn.intent is Intent.CONFORMING:
            yield from _with_contents(generator, drawn, rng)


def _numbered_contents(
    generator: GuidedGenerator, call: ApiCall, turn: int, rng: random.Random
) -> Iterator[ApiCall]:
    """Yield calls that differ from one in the elements of its tensors, other ones at each turn."""
    for number in range(_CONTENTS_OF_EXAMPLE):
        other = generator.with_contents(call, rng, turn * _CONTENTS_OF_EXAMPLE + number)
        if other is not None:
            yield other


def _with_contents(
    generator: GuidedGenerator, call: ApiCall, rng: random.Random
) -> Iterator[ApiCall]:
    """Yield a call that differs from one in the elements of its tensors only, if it has any."""
    other = generator.with_contents(call, rng)
    if other is not None:
        yield other
