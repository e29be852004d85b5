"""Simpler variants of a case: each leaves one thing out, or makes one thing plainer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.triage.buckets import simplicity
from ciguard.triage.levels import presentable

if TYPE_CHECKING:
    from ciguard.domain.case import Case


def reductions(case: Case) -> list[Case]:
    """Return the simpler variants of a case that differ from it in one place, the simplest first.

    Every one is less by `simplicity`, so whoever follows them comes to an end.
    """
    limit = simplicity(case)
    found = {simplicity(variant): variant for variant in presentable(case).variants(case)}
    return [found[key] for key in sorted(found) if key < limit]
