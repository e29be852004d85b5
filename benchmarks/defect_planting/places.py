"""Where a defect is planted, and what it does there."""

from __future__ import annotations

import functools
from typing import Any, Callable, NamedTuple  # noqa: UP035 - Python 3.9 in the target


class Place(NamedTuple):
    """A function that is replaced."""

    owner: Any
    """Class or module that holds it."""
    attribute: str
    wrong: Callable[..., Any]
    """Is given the right function, then the arguments of the call."""


def put(place: Place) -> None:
    """Put a defect in the place of what the library does; its signature stays.

    Raises:
        AttributeError: if the owner lacks what is replaced.
    """
    owner, attribute, wrong = place
    right = getattr(owner, attribute)

    @functools.wraps(right)  # libraries read the signature, and so does ciguard
    def planted(*args: Any, **kwargs: Any) -> Any:
        return wrong(right, *args, **kwargs)

    setattr(owner, attribute, planted)
