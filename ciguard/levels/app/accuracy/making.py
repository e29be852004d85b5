"""Makes the inputs that a function is tried on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.accuracy.aims import Aim
    from ciguard.levels.app.input_synthesis.inputs import Inverse, ServiceInput

LEAST = 5
"""Inputs of a sub-condition without which its recall is not judged."""
_OTHERS = 4
"""One input in so many is for what brings about an outcome in another way."""


@dataclass(frozen=True, slots=True)
class GeneratedInputs:
    """Inputs of one function."""

    inputs: tuple[ServiceInput, ...]
    missing: tuple[InputSpec, ...]
    """What some should show, and nothing makes."""


def made_for(
    aims: Sequence[Aim], others: Sequence[InputSpec], inverse: Inverse, count: int, *, seed: int
) -> GeneratedInputs:
    """Return as many inputs for each sub-condition, and some in which nothing is wanted.

    Args:
        aims: the sub-conditions.
        others: what else may be recognised; one input for each, as long as they are few.
        inverse: makes them.
        count: how many, about.
        seed: of all of them.
    """
    wanted = list(dict.fromkeys(one for aim in aims for one in aim.wanted))
    tasks = [aim.operation.task for aim in aims if not aim.is_felt]
    tasks += [one.task for one in others if one.task is not RecognitionTask.SENTIMENT]
    nothing = [InputSpec(task) for task in dict.fromkeys(tasks)]
    each = max(LEAST, count // max(1, len(wanted) + len(nothing)))
    inputs: dict[tuple[InputSpec, str], ServiceInput] = {}
    missing = []
    for one in (*wanted, *nothing):
        serves = inverse.serves(one)
        made = inverse.inputs(one, each, seed=seed) if serves else ()
        inputs |= {(one, each_made.digest): each_made for each_made in made}
        if not made and one not in nothing:
            missing.append(one)
    left = [one for one in others if one not in wanted and one not in nothing]
    for one in [one for one in left if inverse.serves(one)][: count // _OTHERS]:
        inputs |= {(one, made.digest): made for made in inverse.inputs(one, 1, seed=seed)}
    # In turns, so that a budget that ends early leaves some of each.
    places = {key: at for at, key in enumerate(_in_turns(inputs))}
    ordered = tuple(inputs[key] for key in sorted(inputs, key=places.__getitem__))
    return GeneratedInputs(ordered, tuple(missing))


def _in_turns(keys: Iterable[tuple[InputSpec, str]]) -> Iterator[tuple[InputSpec, str]]:
    """Yield one of each kind, then another of each."""
    several: dict[InputSpec, list[tuple[InputSpec, str]]] = {}
    for key in keys:
        several.setdefault(key[0], []).append(key)
    longest = max(map(len, several.values()), default=0)
    for at in range(longest):
        yield from (one[at] for one in several.values() if at < len(one))
