"""Puts defects in the place of what Keras does, in the classes of its layers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from model_defects import forward, others

if TYPE_CHECKING:
    from collections.abc import Iterable

    from model_defects.contract import Place

PLACES: dict[str, Place] = {**forward.PLACES, **others.PLACES}
"""By the defect's name."""


def plant(names: Iterable[str]) -> None:
    """Plant defects into the Keras of this process.

    Raises:
        KeyError: if there is no such defect.
        AttributeError: if this Keras lacks what it changes.
    """
    for name in names:
        owner, attribute, wrong = PLACES[name]
        setattr(owner, attribute, _instead(getattr(owner, attribute), wrong))


def _instead(right: Any, wrong: Any) -> Any:
    @functools.wraps(right)  # Keras reads the signature
    def planted(*args: Any, **kwargs: Any) -> Any:
        return wrong(right, *args, **kwargs)

    return planted
