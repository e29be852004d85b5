"""Arguments of observed operators that are neither tensors nor Python scalars."""

from __future__ import annotations

from typing import Any, NamedTuple


class NamedArgument(NamedTuple):
    """An object of the library that has a name."""

    tag: str
    """Tag of the value's JSON form: `y` for a dtype, `m` for another member of the library."""
    name: str
    """Common name of the dtype, or qualified name of the member."""


class MadeTensor(NamedTuple):
    """A tensor that a function of the library makes of a dense one."""

    function: str
    """Qualified name of the function."""
    argument: Any
    """The dense tensor."""
