"""Strings that match a regular expression, for the sampler."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue, Value

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from ciguard.values.scope import SamplingScope

_MAX_STRINGS = 64


def pattern_sampler(pattern: str) -> Callable[[random.Random, SamplingScope], Value]:
    """Return a sampler of strings that match `pattern` completely, from a table."""

    def draw(rng: random.Random, scope: SamplingScope) -> Value:  # noqa: ARG001 - the signature of samplers
        texts = _matching_strings(pattern)
        return texts[int(rng.random() * len(texts))]

    return draw


@cache
def _matching_strings(pattern: str) -> tuple[Value, ...]:
    # Hypothesis is slow to import, and few constraints need it here.
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
