"""Where the run of a layer comes from, as the page's script shows it: R_a by layer, and more.

R_a = (Δ_a - Δ_pre) / (Δ_pre + ε) spans many orders of magnitude (LEMON, formula 4). Here a bar is
log10(1 + R_a) long: linear near 0, then as long as the powers of ten by which the deviation grew.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ciguard.reports.wording import publishable
from ciguard.triage import presentable, rate_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.values import Json
    from ciguard.triage import LayerOrigin

MAX_BARS = 24
NEIGHBOURS = 4
"""Layers before the suspect, and behind it, that are shown whatever their R_a."""
_MAX_MUTATIONS = 40
_MAX_NAME = 80
_MAX_TICKS = 4
_MIN_LENGTH = 0.8
"""Percent of the width: what grew at all has a bar."""
_LARGE = 15
"""Powers of ten from here on are their own successors' logarithm."""


def origin_of(case: Case) -> Json:
    """Return what the section about a case's origin shows; None where there is no such section."""
    origin = presentable(case).layer_origin(case)
    if origin is None:
        return None
    return {
        "model": publishable(origin.model, limit=_MAX_NAME),
        "mutations": [publishable(one, limit=200) for one in origin.mutations[:_MAX_MUTATIONS]],
        "more_mutations": max(0, len(origin.mutations) - _MAX_MUTATIONS),
        "checked": origin.checked,
        "suspect": _suspect_text(case, origin),
        "chart": _chart(origin),
    }


def _suspect_text(case: Case, origin: LayerOrigin) -> str:
    if not origin.is_isolated or not origin.suspect:
        return ""
    count = len(origin.deviations)
    among = f", one of {count:,} layers" if count > 1 else ""
    name = publishable(origin.suspect, limit=_MAX_NAME)
    return f"{name} ({publishable(case.api, limit=160)}){among}"


def _chart(origin: LayerOrigin) -> Json:
    """Return bars in the order of the graph, and the numbers below them; None without any R_a."""
    rates = origin.deviations
    if not rates:
        return None
    most = _magnitude(max((rate for _, rate in rates if 0 < rate < math.inf), default=0.0))
    step = max(1, math.ceil(most / _MAX_TICKS))
    powers = range(step, step * max(1, math.ceil(most / step)) + 1, step)
    full = _of_power(powers[-1])
    ticks = [(_power_text(power), round(100 * _of_power(power) / full, 1)) for power in powers]
    return {"rows": _rows(rates, origin.suspect, full), "ticks": [("0", 0.0), *ticks]}


def _rows(rates: Sequence[tuple[str, float]], accused: str, full: float) -> list[Json]:
    """Return what stands below each other, in the order of the graph.

    A layer is (name, R_a as text, length in percent, whether it is the suspect); a number says how
    many layers are left out at its place.
    """
    rows: list[Json] = []
    following = 0
    for place in shown(rates, accused):
        if place > following:
            rows.append(place - following)
        name, rate = rates[place]
        length = _length(rate, full)
        rows.append([publishable(name, limit=_MAX_NAME), rate_text(rate), length, name == accused])
        following = place + 1
    left = len(rates) - following
    return [*rows, left] if left else rows


def shown(rates: Sequence[tuple[str, float]], accused: str) -> list[int]:
    """Return the places of the layers that have room: the suspect, those around it, the largest."""
    if len(rates) <= MAX_BARS:
        return list(range(len(rates)))
    at = next((place for place, (name, _) in enumerate(rates) if name == accused), None)
    near = set() if at is None else set(range(max(0, at - NEIGHBOURS), at + NEIGHBOURS + 1))
    chosen = near & set(range(len(rates)))
    largest = sorted(range(len(rates)), key=lambda place: (-_sortable(rates[place][1]), place))
    for place in largest:
        if len(chosen) >= MAX_BARS:
            break
        chosen.add(place)
    return sorted(chosen)


def _sortable(rate: float) -> float:
    return -math.inf if math.isnan(rate) else rate


def _length(rate: float, full: float) -> float:
    """Return the length of a bar in percent: of nothing, less, or NaN there is none."""
    if math.isnan(rate) or rate <= 0:
        return 0.0
    return max(_MIN_LENGTH, round(100 * min(1.0, _magnitude(rate) / full), 1))


def _magnitude(rate: float) -> float:
    """Return log10(1 + rate)."""
    return math.log1p(rate) / math.log(10)


def _of_power(power: int) -> float:
    """Return log10(1 + 10^power)."""
    return float(power) if power > _LARGE else _magnitude(10.0**power)


def _power_text(power: int) -> str:
    return f"{10**power}" if power <= 2 else f"1e{power}"  # noqa: PLR2004 - 100 is short
