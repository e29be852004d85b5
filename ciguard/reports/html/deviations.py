"""The origin of a layer's case for the page's script: seed model, mutations, and R_a of each layer.

R_a = (Δ_a - Δ_pre) / (Δ_pre + ε) is the growth of the deviation between two targets in layer a (the
LEMON paper, formula 4). It spans many orders of magnitude. The length of a bar is therefore
log10(1 + R_a), which is linear near 0 and logarithmic for large values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ciguard.reports.wording import publishable
from ciguard.triage import deviation_text, presentable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.values import Json
    from ciguard.triage import LayerOrigin

MAX_BARS = 24
NEIGHBOURS = 4
"""Number of layers before the suspected layer, and after it, that are always shown."""
_MAX_MUTATIONS = 40
_MAX_NAME = 80
_MAX_TICKS = 4
_MIN_LENGTH = 0.8
"""Minimum length of a bar with a positive R_a, in percent of the width."""
_LARGE = 15
"""Exponent above which log10(1 + 10^exponent) equals the exponent in double precision."""


def origin_of(case: Case) -> Json:
    """Return the section about the origin of a layer's case as JSON; None for other cases."""
    origin = presentable(case).layer_origin(case)
    if origin is None:
        return None
    return {
        "model": publishable(origin.model, limit=_MAX_NAME),
        "mutations": [publishable(text, limit=200) for text in origin.mutations[:_MAX_MUTATIONS]],
        "more_mutations": max(0, len(origin.mutations) - _MAX_MUTATIONS),
        "checked": origin.checked,
        "suspect": _suspect_text(case, origin),
        "chart": _chart(origin),
    }


def _suspect_text(case: Case, origin: LayerOrigin) -> str:
    """Return name and API of the isolated layer, and the number of layers; empty if none is."""
    if not origin.is_isolated or not origin.suspect:
        return ""
    count = len(origin.deviations)
    total = f", one of {count:,} layers" if count > 1 else ""
    name = publishable(origin.suspect, limit=_MAX_NAME)
    return f"{name} ({publishable(case.api, limit=160)}){total}"


def _chart(origin: LayerOrigin) -> Json:
    """Return the bars and the ticks of the axis as JSON; None if no layer has an R_a."""
    rates = origin.deviations
    if not rates:
        return None
    largest = _magnitude(max((rate for _, rate in rates if 0 < rate < math.inf), default=0.0))
    step = max(1, math.ceil(largest / _MAX_TICKS))
    powers = range(step, step * max(1, math.ceil(largest / step)) + 1, step)
    full = _magnitude_of_power(powers[-1])
    ticks = [
        (_power_text(power), round(100 * _magnitude_of_power(power) / full, 1)) for power in powers
    ]
    return {"rows": _rows(rates, origin.suspect, full), "ticks": [("0", 0.0), *ticks]}


def _rows(rates: Sequence[tuple[str, float]], suspect: str, full: float) -> list[Json]:
    """Return the rows of the chart in the order of the model's graph.

    The row of a layer is a list: its name, its R_a as text, the length of its bar in percent, and
    whether it is the suspected layer. The row of omitted layers is their number.
    """
    rows: list[Json] = []
    next_index = 0
    for index in shown_indices(rates, suspect):
        if index > next_index:
            rows.append(index - next_index)
        name, rate = rates[index]
        length = _length(rate, full)
        rows.append(
            [publishable(name, limit=_MAX_NAME), deviation_text(rate), length, name == suspect]
        )
        next_index = index + 1
    omitted = len(rates) - next_index
    return [*rows, omitted] if omitted else rows


def shown_indices(rates: Sequence[tuple[str, float]], suspect: str) -> list[int]:
    """Return the sorted indices of up to `MAX_BARS` layers.

    They are the suspected layer, its neighbours, and the layers with the largest R_a.
    """
    count = len(rates)
    if count <= MAX_BARS:
        return list(range(count))
    place = next((index for index, (name, _) in enumerate(rates) if name == suspect), None)
    near: set[int] = set()
    if place is not None:
        near = set(range(max(0, place - NEIGHBOURS), place + NEIGHBOURS + 1))
    chosen = near & set(range(count))
    for index in sorted(range(count), key=lambda index: (-_sort_key(rates[index][1]), index)):
        if len(chosen) >= MAX_BARS:
            break
        chosen.add(index)
    return sorted(chosen)


def _sort_key(rate: float) -> float:
    """Return R_a for sorting; NaN comes last."""
    return -math.inf if math.isnan(rate) else rate


def _length(rate: float, full: float) -> float:
    """Return the length of a bar in percent; 0 unless R_a is positive."""
    if math.isnan(rate) or rate <= 0:
        return 0.0
    return max(_MIN_LENGTH, round(100 * min(1.0, _magnitude(rate) / full), 1))


def _magnitude(rate: float) -> float:
    """Return log10(1 + rate)."""
    return math.log1p(rate) / math.log(10)


def _magnitude_of_power(power: int) -> float:
    """Return log10(1 + 10^power)."""
    return float(power) if power > _LARGE else _magnitude(10.0**power)


def _power_text(power: int) -> str:
    """Return a power of ten as the label of a tick."""
    return f"{10**power}" if power <= 2 else f"1e{power}"  # noqa: PLR2004 - up to 100, digits are as short
