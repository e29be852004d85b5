"""Global state of Python and numpy that a case may change, checked in nanoseconds.

The generators of `random` and `numpy.random` are Mersenne Twisters. Their position in the current
block of 624 words shows whether any number was drawn. Reading it takes 20 ns; seeding both
generators for every case would take longer than most calls under test.
"""

# ruff: noqa: SLF001, NPY002 - public readers are slow; libraries use the legacy generator

from __future__ import annotations

import ctypes
import importlib
import os
import random
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_SEED = 0
_FRESH = 624
"""Position of a Mersenne Twister after seeding, before the first number is drawn."""
_WORD_BYTES = 4


class InterpreterState:
    """Restores `random`, `numpy.random`, numpy's error handling and its print options."""

    def __init__(self) -> None:
        self._seed = _SEED
        random.seed(_SEED)
        np.random.seed(_SEED)
        self._random_position = _random_position()
        self._numpy_position = _numpy_position()
        self._recursion_limit = sys.getrecursionlimit()
        self._errors = np.geterr()
        self._printing = np.get_printoptions()
        self._readers = _numpy_readers()
        self._clean = [read() for read in self._readers]
        self.restore()
        # `random` reseeds itself in a forked child; its position does not show that.
        os.register_at_fork(after_in_child=lambda: random.seed(self._seed))

    def vary(self, seed: int) -> None:
        """Set the seed that `restore` uses from now on."""
        self._seed = seed
        random.seed(seed)
        np.random.seed(seed)

    def restore(self) -> None:
        """Restore the state at construction, within 0.3 microseconds if nothing changed."""
        position = self._random_position
        if position is None or position.value != _FRESH:
            random.seed(self._seed)
        position = self._numpy_position
        if position is None or position.value != _FRESH:
            np.random.seed(self._seed)
        if sys.getrecursionlimit() != self._recursion_limit:
            sys.setrecursionlimit(self._recursion_limit)
        if [read() for read in self._readers] != self._clean:
            np.seterr(**self._errors)
            np.set_printoptions(**self._printing)
            self._clean = [read() for read in self._readers]


def _random_position() -> ctypes.c_int | None:
    """Return a view of the position of `random`'s generator; None if it cannot be located.

    Source: CPython, Modules/_randommodule.c, `RandomObject`: object header, `int index`, state.
    """
    if sys.implementation.name != "cpython":
        return None
    generator: Any = vars(random)["_inst"]
    position = ctypes.c_int.from_address(id(generator) + object.__basicsize__)
    return position if _follows_draws(position, random.random) else None


def _numpy_position() -> ctypes.c_int | None:
    """Return a view of the position of numpy's legacy generator; None if it cannot be located.

    Source: numpy, random/src/mt19937/mt19937.h, `mt19937_state`: 624 words of key, `int pos`.
    """
    try:
        generator: Any = np.random.mtrand._rand._bit_generator
        address = generator.ctypes.state_address
    except AttributeError:
        return None
    position = ctypes.c_int.from_address(address + _FRESH * _WORD_BYTES)
    return position if _follows_draws(position, np.random.random_sample) else None


def _follows_draws(position: ctypes.c_int, draw: Callable[[], object]) -> bool:
    """Return whether `position` is that of a fresh generator and changes with every draw."""
    is_fresh = position.value == _FRESH
    draw()
    return is_fresh and 0 < position.value < _FRESH


def _numpy_readers() -> list[Callable[[], Any]]:
    """Return functions whose results change with numpy's error handling or print options."""
    try:
        umath: Any = importlib.import_module("numpy._core.umath")
        printoptions: Any = importlib.import_module("numpy._core.printoptions")
    except ImportError:  # numpy 1
        umath = importlib.import_module("numpy.core.umath")
        arrayprint: Any = importlib.import_module("numpy.core.arrayprint")
        return [umath.geterrobj, arrayprint._format_options.copy]
    # Each change stores a new object in the context variable.
    return [umath._extobj_contextvar.get, printoptions.format_options.get]
