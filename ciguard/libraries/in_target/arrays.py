"""Arrays of libraries, as functions of the user's take them: what makes them, and what they mean.

A library's folder has its own in `arrays.py`, under the name `ARRAYS`.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any

_LIBRARIES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class ArrayLibrary:
    """What is asked of a library whose arrays functions take; nothing is imported before."""

    library = ""
    """Name of the library."""
    roots: tuple[str, ...] = ()
    """Packages that a module means the library by, where it imports one of them."""
    holders: tuple[str, ...] = ()
    """Packages whose classes of arrays stand for the library's in hints."""
    dtypes = ""
    """Module whose members are its dtypes."""
    dtype_class = ""
    """Name of the class of its dtypes, where hints may hold it."""
    usual: tuple[str, ...] = ("float32", "int32", "bool", "uint8", "complex64")
    """Element types that it makes of Python's numbers, by preference."""

    @property
    def makes_arrays(self) -> bool:
        """Whether it has arrays of its own, and does not compute with those of others."""
        return bool(self.dtypes)

    def backend(self) -> str:
        """Return the name of the library whose arrays it computes with."""
        return self.library

    def array(self, elements: Any, dtype: str) -> Any:
        """Return an array of the library, from one of numpy.

        Raises:
            Exception: any, if the library has no such element type.
        """
        raise NotImplementedError

    def seed(self, number: int) -> None:
        """Seed its generators, if the program has imported it; nothing by default."""

    def show_errors(self) -> None:
        """Have it raise what is raised inside as it is, if it has been imported."""


@cache
def every_library() -> dict[str, ArrayLibrary]:
    """Return what there is, by the name of the library."""
    names = sorted(os.listdir(_LIBRARIES))
    own = [name for name in names if os.path.isfile(_file_of(name))]
    paths = [f"ciguard.libraries.{name}.in_target.arrays" for name in own]
    found = [importlib.import_module(path).ARRAYS for path in paths]
    return {arrays.library: arrays for arrays in found}


def _file_of(name: str) -> str:
    return os.path.join(_LIBRARIES, name, "in_target", "arrays.py")
