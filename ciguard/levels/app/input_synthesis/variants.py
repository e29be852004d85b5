"""What all ways to make inputs share: their randomness, how names compare, and no input twice."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput

_TRIES = 8
"""How many are made for each that is asked for: some may be the same as others."""


def rng_for(wanted: InputSpec, seed: int) -> random.Random:
    """Return the randomness that inputs for that are made with."""
    # Spelled out, so that a class that is renamed does not change what a seed gives.
    feeling = (
        f"<Feeling.{wanted.feeling.name}: {wanted.feeling.value!r}>" if wanted.feeling else None
    )
    task = f"<Task.{wanted.task.name}: {wanted.task.value!r}>"
    of = f"({seed}, {task}, {wanted.key!a}, {wanted.kind!a}, {feeling})"
    return random.Random(of)  # noqa: S311 - reproducible, guards nothing


def different(made: Iterable[ServiceInput], count: int) -> tuple[ServiceInput, ...]:
    """Return the first inputs of which no two have the same content.

    Args:
        made: inputs in their order, also without an end.
        count: how many at most; fewer are returned where too many are the same.
    """
    found: dict[str, ServiceInput] = {}
    tried = 0
    if count > 0:
        for one in made:
            found.setdefault(one.digest, one)
            tried += 1
            if len(found) == count or tried == count * _TRIES:
                break
    return tuple(found.values())


class InputMaker:
    """Base of what makes inputs itself: an `Inverse`."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it makes inputs for that, with what is installed here."""
        raise NotImplementedError

    def made(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield inputs for what it serves; some may be the same, and there may be no end.

        Args:
            wanted: what they are for.
            rng: decides what they are.
        """
        raise NotImplementedError

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return at most so many inputs, none where it serves nothing; see `Inverse`."""
        if not self.serves(wanted):
            return ()
        return different(self.made(wanted, rng_for(wanted, seed)), count)


def alike(name: str) -> str:
    """Return what is the same for names that differ in capitals, `_`, `-` and spaces only."""
    return " ".join(re.split(r"[\s_-]+", name.casefold())).strip()
