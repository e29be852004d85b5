"""Puts defects in the place of what Keras does, in the classes of its layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from defect_planting import put

from model_defects import forward, others

if TYPE_CHECKING:
    from collections.abc import Iterable

    from defect_planting import Place

PLACES: dict[str, Place] = {**forward.PLACES, **others.PLACES}
"""By the defect's name."""


def plant(names: Iterable[str]) -> None:
    """Plant defects into the Keras of this process.

    Raises:
        KeyError: if there is no such defect.
        AttributeError: if this Keras lacks what it changes.
    """
    for name in names:
        put(PLACES[name])
