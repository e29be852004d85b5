"""Which defects a seed plants, and where."""

from __future__ import annotations

import random
from collections import Counter
from typing import NamedTuple

from planted_defects.kinds import Kind
from planted_defects.table import PLANTABLE, Plantable

COUNT = 78
"""Six of each kind."""
MAX_PER_API = 2
EDGES = ("no elements", "no dimensions", "infinity")


class Defect(NamedTuple):
    """One defect of one function."""

    plantable: Plantable
    kind: Kind
    edge: str = ""
    """For a crash: which of `EDGES` it needs."""

    @property
    def api(self) -> str:
        """Qualified name of the function."""
        return self.plantable.api


def defects(seed: int, count: int = COUNT) -> list[Defect]:
    """Return the defects of a seed, in the order of the table and of their wrapping.

    Args:
        seed: the same one chooses the same defects on every machine.
        count: how many; as many of each kind, up to one.

    Raises:
        ValueError: if the table has no room for so many.
    """
    rng = random.Random(seed)
    kinds = list(Kind)
    rng.shuffle(kinds)
    planned = Counter(kinds[number % len(kinds)] for number in range(count))
    # The kinds with the fewest places choose first, so that no other takes their last one.
    kinds.sort(key=lambda kind: (sum(kind in row.kinds for row in PLANTABLE), -len(kind.traces)))
    chosen: list[Defect] = []
    for kind in (one for one in kinds for _ in range(planned[one])):
        rows = _rows_for(kind, chosen)
        if not rows:
            msg = f"no function is left for defect {len(chosen) + 1}, {kind.value}"
            raise ValueError(msg)
        edge = rng.choice(EDGES) if kind is Kind.CRASH else ""
        chosen.append(Defect(rng.choice(rows), kind, edge))
    places = {row.api: place for place, row in enumerate(PLANTABLE)}
    order = {kind: place for place, kind in enumerate(Kind)}
    return sorted(chosen, key=lambda one: (places[one.api], order[one.kind]))


def _rows_for(kind: Kind, chosen: list[Defect]) -> list[Plantable]:
    """Return the functions that can take such a defect; those without any, if there are some."""
    taken = Counter(one.api for one in chosen)
    left = {trace: {one.api for one in chosen if trace in one.kind.traces} for trace in kind.traces}
    rows = [
        row
        for row in PLANTABLE
        if kind in row.kinds
        and taken[row.api] < MAX_PER_API
        and not any(row.api in apis for apis in left.values())
    ]
    return [row for row in rows if not taken[row.api]] or rows
