"""Adapter with slower functions; runs in the target of `instruction_counts`.

`SLOWED_LIBRARY` in the environment names the library. `SLOWED` names a JSON file: the iterations of
a loop to run in each call, by API. The API `spin.N` is a function that only runs such a loop.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.libraries.in_target.contract import Adapter as Base
else:
    _LIBRARY = os.environ["SLOWED_LIBRARY"]
    Base = importlib.import_module(f"ciguard.libraries.{_LIBRARY}.in_target.adapter").ADAPTER


def spin(iterations: int) -> None:
    """Run an empty loop."""
    for _ in repeat(None, iterations):  # each iteration costs the same, unlike that of a range
        pass


def slowed(function: Callable[..., Any], iterations: int) -> Callable[..., Any]:
    """Return the function with an empty loop before each call."""

    @functools.wraps(function)
    def slower(*arguments: Any, **keywords: Any) -> Any:
        for _ in repeat(None, iterations):
            pass
        return function(*arguments, **keywords)

    return slower


class SlowedAdapter(Base):
    """The library with the slower functions of `SLOWED`."""

    def __init__(self) -> None:
        super().__init__()
        path = os.environ.get("SLOWED", "")
        self._slowed = json.loads(Path(path).read_text("utf-8")) if path else {}

    def resolve(self, path: str) -> Any:
        """Return the function with this name, slower if `SLOWED` names it."""
        kind, _, number = path.partition(".")
        if kind == "spin":
            return functools.partial(spin, int(number))
        function = super().resolve(path)
        return slowed(function, self._slowed[path]) if path in self._slowed else function


ADAPTER = SlowedAdapter
