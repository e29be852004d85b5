"""Origin of a case, for reports: the deviations of layers, or a position in a derivation tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.lineage import NodeOutcome
    from ciguard.domain.programs import Ancestry

_MIN_EXPONENT_FORM = 999.5
"""Smallest number that is written with an exponent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerOrigin:
    """The model run that led to a case, and the deviation of each of its layers."""

    model: str
    """Name of the seed model; empty if unknown."""
    mutations: tuple[str, ...]
    checked: str
    """Phrase for the results that were compared, such as those of `Check.PREDICT`."""
    suspect: str
    """Name of the suspected layer; empty if unknown."""
    is_isolated: bool
    """True if the case runs the suspected layer alone."""
    deviations: tuple[tuple[str, float], ...]
    """Name and change rate R_a of each layer, in the order of the graph (the LEMON paper, formula
    4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOrigin:
    """The position of a case in its derivation tree."""

    ancestry: Ancestry
    text: str
    """Source of the derived program."""
    ended: NodeOutcome
    """Outcome that the node has if it shows a defect."""
    is_alone: bool
    """True if the case is not a node of the tree but runs a block alone or a program repeatedly."""


def deviation_text(rate: float) -> str:
    """Return a change rate R_a as text: `0.25`, `417`, `3.2e4`, `infinite` or `unknown` for NaN."""
    if not math.isfinite(rate):
        return "unknown" if math.isnan(rate) else "infinite"
    text = f"{rate:.3g}" if abs(rate) < _MIN_EXPONENT_FORM else f"{rate:.1e}"
    digits, _, exponent = text.partition("e")
    return f"{digits}e{int(exponent)}" if exponent else digits
