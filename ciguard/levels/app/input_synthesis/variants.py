"""Shared by all ways to synthesise inputs: randomness, name comparison and deduplication."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput

_MAX_ATTEMPTS = 8
"""Maximum attempts per requested input: some attempts may repeat a content."""


def rng_for(wanted: InputSpec, seed: int) -> random.Random:
    """Return the random generator for inputs of a specification."""
    # Spelled out, so that renaming a class does not change the inputs of a seed.
    feeling = (
        f"<Feeling.{wanted.feeling.name}: {wanted.feeling.value!r}>" if wanted.feeling else None
    )
    task = f"<Task.{wanted.task.name}: {wanted.task.value!r}>"
    seed_text = f"({seed}, {task}, {wanted.key!a}, {wanted.kind!a}, {feeling})"
    return random.Random(seed_text)  # noqa: S311 - reproducible, no secret


def distinct_inputs(candidates: Iterable[ServiceInput], count: int) -> tuple[ServiceInput, ...]:
    """Return the first inputs with distinct contents.

    Args:
        candidates: inputs in order; may have no end.
        count: maximum number; fewer are returned if too many are the same.
    """
    distinct: dict[str, ServiceInput] = {}
    attempts = 0
    if count > 0:
        for candidate in candidates:
            distinct.setdefault(candidate.digest, candidate)
            attempts += 1
            if len(distinct) == count or attempts == count * _MAX_ATTEMPTS:
                break
    return tuple(distinct.values())


class InputMaker:
    """Base of an `Inverse` that makes its inputs itself."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it makes such inputs, with what is installed here."""
        raise NotImplementedError

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield inputs of a specification that it serves; they may repeat, and have no end.

        Args:
            wanted: specification of the inputs.
            rng: source of randomness.
        """
        raise NotImplementedError

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return up to `count` distinct inputs; none if it does not serve them. See `Inverse`."""
        if not self.serves(wanted):
            return ()
        return distinct_inputs(self.generate(wanted, rng_for(wanted, seed)), count)


def normalised_name(name: str) -> str:
    """Return a name in lower case, with single spaces for `_`, `-` and white space."""
    return " ".join(re.split(r"[\s_-]+", name.casefold())).strip()
