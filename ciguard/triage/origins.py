"""Where a case comes from, as reports draw it: the layers that deviate, or its place in a tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.lineage import NodeOutcome
    from ciguard.domain.programs import Ancestry

_MAX_PLAIN_LENGTH = 999.5
"""Numbers from here on are written with an exponent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerOrigin:
    """The run of a model that led to a case, and how much each of its layers deviated there."""

    model: str
    """The seed model; empty if that is not known."""
    mutations: tuple[str, ...]
    checked: str
    """What was run and compared, in words."""
    suspect: str
    """The layer that is blamed; empty if that is not known."""
    is_isolated: bool
    """True if the case runs that layer alone."""
    deviations: tuple[tuple[str, float], ...]
    """Name and R_a of each layer, in the order of the graph (LEMON, formula 4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOrigin:
    """The place of a case in the tree that it was grown in."""

    ancestry: Ancestry
    text: str
    """The program, as it was grown."""
    ended: NodeOutcome
    """What it is if it shows a defect."""
    is_alone: bool
    """True if it is in no tree: a block that was run alone, or a program over and over."""


def rate_text(rate: float) -> str:
    """Return an R_a: `0.25`, `417`, `3.2e4`, `infinite`."""
    if not math.isfinite(rate):
        return "unknown" if math.isnan(rate) else "infinite"
    text = f"{rate:.3g}" if abs(rate) < _MAX_PLAIN_LENGTH else f"{rate:.1e}"
    digits, _, exponent = text.partition("e")
    return f"{digits}e{int(exponent)}" if exponent else digits
