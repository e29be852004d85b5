"""Texts that match a regular expression, for the sampler."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue, Value

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from ciguard.values.scope import SamplingScope

_TEXTS = 64


def pattern_sampler(pattern: str) -> Callable[[random.Random, SamplingScope], Value]:
    """Return a sampler of a table of texts that match the whole of `pattern`."""

    def draw(rng: random.Random, scope: SamplingScope) -> Value:  # noqa: ARG001 - every sampler has one form
        texts = _matching(pattern)
        return texts[int(rng.random() * len(texts))]

    return draw


@cache
def _matching(pattern: str) -> tuple[Value, ...]:
    # Hypothesis takes longer to import than the rest of ciguard, and few constraints need it here.
    from hypothesis import HealthCheck, Phase, given, settings  # noqa: PLC0415
    from hypothesis import strategies as st  # noqa: PLC0415

    found: list[Value] = []

    @settings(
        max_examples=_TEXTS,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.from_regex(pattern, fullmatch=True))
    def collect(text: str) -> None:
        found.append(LiteralValue(text))

    collect()
    return tuple(dict.fromkeys(found))
