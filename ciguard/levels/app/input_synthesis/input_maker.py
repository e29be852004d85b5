"""Base class of input synthesis, with randomness, comparison of names and deduplication."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput

_MAX_ATTEMPTS = 8
"""Maximum number of attempts per requested input, as an attempt may repeat a content."""


def rng_for(wanted: InputSpec, seed: int) -> random.Random:
    """Return the random generator for inputs of a specification and seed."""
    # Old names of the classes: a renamed class must not change the inputs of a seed.
    feeling = (
        f"<Feeling.{wanted.feeling.name}: {wanted.feeling.value!r}>" if wanted.feeling else None
    )
    task = f"<Task.{wanted.task.name}: {wanted.task.value!r}>"
    seed_text = f"({seed}, {task}, {wanted.key!a}, {wanted.kind!a}, {feeling})"
    return random.Random(seed_text)  # noqa: S311 - reproducible, not secret


def distinct_inputs(candidates: Iterable[ServiceInput], count: int) -> tuple[ServiceInput, ...]:
    """Return the first inputs with distinct contents.

    Args:
        candidates: the inputs in order; may be endless.
        count: the maximum number; fewer are returned if too many candidates are equal.
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
    """Base class of an `Inverse` that only has to generate inputs one by one."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether inputs of a specification can be made with what is installed here."""
        raise NotImplementedError

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield inputs of a specification that is served; they may repeat, and be endless.

        Args:
            wanted: the specification of the inputs.
            rng: the random generator.
        """
        raise NotImplementedError

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return up to `count` distinct inputs; empty if they are not served. See `Inverse`."""
        if not self.serves(wanted):
            return ()
        return distinct_inputs(self.generate(wanted, rng_for(wanted, seed)), count)


def normalised_name(name: str) -> str:
    """Return a name in lower case, with single spaces for `_`, `-` and white space."""
    return " ".join(re.split(r"[\s_-]+", name.casefold())).strip()
