"""Adapter of torch with slower functions; runs in the target of `instruction_counts`.

`SLOWED` in the environment names a JSON file: the iterations of a loop to run in each call, by API.
The API `spin.N` is a function that only runs such a loop; `wrapped.N` is the same with a wrapper.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.libraries.torch.in_target.adapter import TorchAdapter

if TYPE_CHECKING:
    from collections.abc import Callable


def spin(iterations: int) -> None:
    """Run an empty loop."""
    for _ in range(iterations):
        pass


def slowed(function: Callable[..., Any], iterations: int) -> Callable[..., Any]:
    """Return the function with an empty loop before each call."""

    @functools.wraps(function)
    def slower(*arguments: Any, **keywords: Any) -> Any:
        for _ in range(iterations):
            pass
        return function(*arguments, **keywords)

    return slower


class SlowedTorch(TorchAdapter):
    """Torch with the slower functions of `SLOWED`."""

    def __init__(self) -> None:
        super().__init__()
        path = os.environ.get("SLOWED", "")
        self._slowed = json.loads(Path(path).read_text("utf-8")) if path else {}

    def resolve(self, path: str) -> Any:
        """Return the function with this name, slower if `SLOWED` names it."""
        kind, _, number = path.partition(".")
        if kind in {"spin", "wrapped"}:
            function = functools.partial(spin, int(number))
            return slowed(function, 0) if kind == "wrapped" else function
        function = super().resolve(path)
        return slowed(function, self._slowed[path]) if path in self._slowed else function


ADAPTER = SlowedTorch
