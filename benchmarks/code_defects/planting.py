"""Puts defects in the place of what torch does, in the classes of its layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from defect_planting import put

from code_defects import building, running

if TYPE_CHECKING:
    from collections.abc import Iterable

    from defect_planting import Place

PLACES: dict[str, tuple[Place, ...]] = {
    **{name: (place,) for name, place in building.PLACES.items()},
    **running.PLACES,
}
"""By the defect's name: two defects of one place go around each other."""


def plant(names: Iterable[str]) -> None:
    """Plant defects into the torch of this process.

    Raises:
        KeyError: if there is no such defect.
        AttributeError: if this torch lacks what it changes.
    """
    for name in names:
        for place in PLACES[name]:
            put(place)
