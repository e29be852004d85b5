"""Where a defect is planted, and what it does there."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple  # noqa: UP035 - Python 3.9 in the target


class Place(NamedTuple):
    """A function that is replaced."""

    owner: Any
    """Class or module that holds it."""
    attribute: str
    wrong: Callable[..., Any]
    """Is given the right function, then the arguments of the call."""
