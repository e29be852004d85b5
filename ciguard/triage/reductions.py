"""Simpler variants of a case. Each of them omits or simplifies one part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.triage.buckets import simplicity
from ciguard.triage.levels import presentable

if TYPE_CHECKING:
    from ciguard.domain.case import Case


def reductions(case: Case) -> list[Case]:
    """Return the variants of a case that are simpler in one part, simplest first.

    Each variant precedes the case in the order of `simplicity`, so that repeated reduction ends.
    """
    limit = simplicity(case)
    variants = {simplicity(variant): variant for variant in presentable(case).variants(case)}
    return [variants[key] for key in sorted(variants) if key < limit]
