"""Synthesis of the inputs of one function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.inputs import InputSpec
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.levels.app.accuracy.aims import Aim
    from ciguard.levels.app.input_synthesis.inputs import Inverse, ServiceInput

MIN_INPUTS = 5
"""Minimum number of inputs by which the recall of a sub-condition is judged."""
_EXTRA_INTERVAL = 4
"""Number of inputs per further specification, which belongs to no aim."""


@dataclass(frozen=True, slots=True)
class GeneratedInputs:
    """Inputs of one function."""

    inputs: tuple[ServiceInput, ...]
    missing: tuple[InputSpec, ...]
    """Specifications for which no input could be synthesised."""


def synthesise_inputs(
    aims: Sequence[Aim],
    extra_specs: Sequence[InputSpec],
    inverse: Inverse,
    count: int,
    *,
    seed: int,
) -> GeneratedInputs:
    """Return inputs: equally many for each specification of an aim, and plain ones.

    Args:
        aims: the aims of the sub-conditions.
        extra_specs: further specifications; each gets one input, up to a share of `count`.
        inverse: the input synthesis.
        count: the approximate total number of inputs.
        seed: the seed of the synthesis.
    """
    wanted = list(dict.fromkeys(spec for aim in aims for spec in aim.wanted))
    tasks = [aim.operation.task for aim in aims if not aim.is_sentiment]
    tasks += [spec.task for spec in extra_specs if spec.task is not RecognitionTask.SENTIMENT]
    plain = [InputSpec(task) for task in dict.fromkeys(tasks)]
    count_each = max(MIN_INPUTS, count // max(1, len(wanted) + len(plain)))
    inputs: dict[tuple[InputSpec, str], ServiceInput] = {}
    missing = []
    for spec in (*wanted, *plain):
        serves = inverse.serves(spec)
        synthesised = inverse.inputs(spec, count_each, seed=seed) if serves else ()
        inputs |= {(spec, service_input.digest): service_input for service_input in synthesised}
        if not synthesised and spec not in plain:
            missing.append(spec)
    remaining = [spec for spec in extra_specs if spec not in wanted and spec not in plain]
    for spec in [spec for spec in remaining if inverse.serves(spec)][: count // _EXTRA_INTERVAL]:
        inputs |= {
            (spec, synthesised.digest): synthesised
            for synthesised in inverse.inputs(spec, 1, seed=seed)
        }
    # Interleaved, so that each specification has inputs if the time budget ends early.
    positions = {key: index for index, key in enumerate(_interleaved(inputs))}
    ordered = tuple(inputs[key] for key in sorted(inputs, key=positions.__getitem__))
    return GeneratedInputs(ordered, tuple(missing))


def _interleaved(keys: Iterable[tuple[InputSpec, str]]) -> Iterator[tuple[InputSpec, str]]:
    """Yield the first key of each specification, then the second of each, and so on."""
    keys_by_spec: dict[InputSpec, list[tuple[InputSpec, str]]] = {}
    for key in keys:
        keys_by_spec.setdefault(key[0], []).append(key)
    length = max(map(len, keys_by_spec.values()), default=0)
    for index in range(length):
        yield from (
            spec_keys[index] for spec_keys in keys_by_spec.values() if index < len(spec_keys)
        )
