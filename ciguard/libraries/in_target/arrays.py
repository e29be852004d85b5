"""Arrays of libraries for the user's functions: how to build them, and which hints denote them.

The module `arrays` in a library's folder assigns an instance of its class to `ARRAYS`.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any

_LIBRARIES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class ArrayLibrary:
    """Base class of the arrays of one library, which is imported only when it is needed."""

    library = ""
    """Name of the library."""
    roots: tuple[str, ...] = ()
    """Packages whose import in a module shows that the module uses the library."""
    array_packages: tuple[str, ...] = ()
    """Packages whose array classes denote the library's arrays in type hints."""
    dtypes = ""
    """Name of the module whose members are the library's dtypes."""
    dtype_class = ""
    """Name of the class of dtypes if type hints may contain the class; else empty."""
    usual_dtypes: tuple[str, ...] = ("float32", "int32", "bool", "uint8", "complex64")
    """Dtypes that the library chooses for Python's numbers, the preferred ones first."""

    @property
    def makes_arrays(self) -> bool:
        """True if the library has its own arrays; False if it uses the arrays of a backend."""
        return bool(self.dtypes)

    def backend(self) -> str:
        """Return the name of the library with whose arrays this library computes."""
        return self.library

    def array(self, elements: Any, dtype: str) -> Any:
        """Return an array of the library, made from a numpy array.

        Args:
            elements: the numpy array.
            dtype: the name of the dtype.

        Raises:
            Exception: any, if the library has no such dtype.
        """
        raise NotImplementedError

    def seed(self, number: int) -> None:
        """Seed the library's generators if the library is imported. By default do nothing."""

    def show_errors(self) -> None:
        """Turn off filters of exceptions, if the library is imported. By default do nothing."""


@cache
def arrays_by_library() -> dict[str, ArrayLibrary]:
    """Return the arrays of all libraries, by the name of the library."""
    folders = sorted(os.listdir(_LIBRARIES))
    names = [name for name in folders if os.path.isfile(_file_of(name))]
    paths = [f"ciguard.libraries.{name}.in_target.arrays" for name in names]
    all_arrays = [importlib.import_module(path).ARRAYS for path in paths]
    return {arrays.library: arrays for arrays in all_arrays}


def _file_of(name: str) -> str:
    return os.path.join(_LIBRARIES, name, "in_target", "arrays.py")
