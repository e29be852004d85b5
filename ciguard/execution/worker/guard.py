"""Control of the memory guard, a library that `LD_PRELOAD` has put into this process."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
from typing import Any

_SET_HANDLER = 304
"""Index of `PyDataMem_SetHandler` in numpy's table of C functions, since numpy 1.22."""
_SIDES = 4
_MAX_LABEL = 39
"""Maximum length of a label that the guard stores."""


def begins_at_page(seed: int) -> bool:
    """Return whether a case's blocks begin at an unreadable page; those of other cases end there.

    Few defects access memory before a block. The seed decides, so that a case can be replayed.
    """
    return seed % _SIDES == _SIDES - 1


class MemoryGuard:
    """The guard of this process."""

    def __init__(self) -> None:
        """Find the guard.

        Raises:
            RuntimeError: if it is not loaded.
        """
        self._library = ctypes.CDLL(None)
        if not hasattr(self._library, "guard_begin"):
            msg = "the memory guard is not loaded: the loader ignored LD_PRELOAD"
            raise RuntimeError(msg)
        os.environ.pop("LD_PRELOAD", None)  # programs that a library starts need no guard
        self._begin = self._library.guard_begin
        self.end = self._library.guard_end
        """Function that guards only tensors from now on, and checks the canaries of a case."""
        self._label = self._library.guard_label

    def begin(self, seed: int) -> None:
        """Guard every block from now on."""
        self._begin(int(begins_at_page(seed)))

    def label(self, text: str) -> None:
        """Name the blocks that are allocated from now on: `argument 2 (int64[2, 16])`."""
        if len(text) > _MAX_LABEL:
            text = f"{text[: _MAX_LABEL - 4]}...)"
        self._label(text.encode("ascii", "replace"))

    def adopt_arrays(self) -> None:
        """Make numpy allocate its arrays with the guard; numpy before 1.22 is left as it is."""
        handler = ctypes.c_char.in_dll(self._library, "guard_numpy_handler")
        with contextlib.suppress(ImportError):
            _set_numpy_handler(ctypes.addressof(handler))


def _set_numpy_handler(address: int) -> None:
    """Set the handler of numpy's data memory, see NEP 49.

    Raises:
        ImportError: if numpy is too old.
    """
    table = _numpy_functions()
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])
    set_handler(new_capsule(address, b"mem_handler", None))


def _numpy_functions() -> Any:
    numpy = importlib.import_module("numpy")
    version = tuple(int(part) for part in numpy.__version__.split(".")[:2])
    if version < (1, 22):
        message = f"numpy {numpy.__version__} has no handlers of memory"
        raise ImportError(message)
    core = importlib.import_module("numpy._core" if version >= (2, 0) else "numpy.core")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    return (ctypes.c_void_p * (_SET_HANDLER + 1)).from_address(
        pointer(core.multiarray._ARRAY_API, None)  # noqa: SLF001 - how C code finds it, too
    )
