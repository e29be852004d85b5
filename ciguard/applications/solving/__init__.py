"""Solves for answers that turn conditions which no plain answer turned.

A function's text is followed with the values of one answer, and beside each value with its term in
z3 (concolic execution): `terms` pairs the two, `operations`, `texts` and `patterns` are what Python
does to them, `listed` what it does to lists, `path` notes which conditions were met on the way,
`following` reads statements and `evaluating` expressions. `symbols` makes the answer, `search` asks
for one that turns a condition, again and again. It only proposes: what a function really does with
an answer is for `exploring` to see. `contradictions` tells of conditions that no number can turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.applications.answering.installed import are_installed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.applications.finding.application import Application
    from ciguard.applications.finding.findings import Found
    from ciguard.applications.judging.dead_code import Dead


def can_solve() -> bool:
    """Return whether z3 is installed."""
    return are_installed("z3")


def contradictory_conditions(application: Application, found: Found) -> Iterator[Dead]:
    """Yield sub-conditions that nothing can turn, together with others; none without z3.

    Args:
        application: as read.
        found: a function of it.
    """
    if can_solve():
        from ciguard.applications.solving.contradictions import (  # noqa: PLC0415 - an extra
            contradictions,
        )

        yield from contradictions(application, found)
