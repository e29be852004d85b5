"""Sampler of strings that match a regular expression."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue, Value

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from ciguard.values.scope import SamplingScope

_MAX_STRINGS = 64
"""Number of strings in the table of a pattern."""


def pattern_sampler(pattern: str) -> Callable[[random.Random, SamplingScope], Value]:
    """Return a sampler that draws from a table of strings, which match `pattern` completely."""

    def draw(rng: random.Random, scope: SamplingScope) -> Value:  # noqa: ARG001 - samplers have these parameters
        texts = _matching_strings(pattern)
        return texts[int(rng.random() * len(texts))]

    return draw


@cache
def _matching_strings(pattern: str) -> tuple[Value, ...]:
    """Return the table of distinct strings for a pattern, the same in every run."""
    # Hypothesis is slow to import, and few constraints have a pattern.
    from hypothesis import HealthCheck, Phase, given, settings  # noqa: PLC0415
    from hypothesis import strategies as st  # noqa: PLC0415

    strings: list[Value] = []

    @settings(
        max_examples=_MAX_STRINGS,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.from_regex(pattern, fullmatch=True))
    def collect(text: str) -> None:
        strings.append(LiteralValue(text))

    collect()
    return tuple(dict.fromkeys(strings))
