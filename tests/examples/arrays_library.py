"""numpy as a library under test, named `arrays`, with a layer and a few more functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.libraries.in_target.contract import Adapter

if TYPE_CHECKING:
    from collections.abc import Callable


class Scale:
    """A layer of the library."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, x: Any) -> Any:
        return x * np.asarray(self.factor, x.dtype)


def add_(x: Any, y: Any) -> Any:
    """Add to the first array in place."""
    x += y
    return x


def checked(x: Any) -> Any:
    """Reject every array."""
    message = f"the shape {x.shape} is wrong"
    raise ValueError(message)


class ArraysAdapter(Adapter):
    """Adapter of numpy as the library `arrays`, with a few more functions."""

    module = "arrays"

    def __init__(self) -> None:
        self._rng = np.random.default_rng()

    def resolve(self, path: str) -> Any:
        own = {"Scale": Scale, "add_": add_, "checked": checked, "noise": self._noise}
        name = path.partition(".")[2]
        return own.get(name) or getattr(np, name)

    def _noise(self, x: Any) -> Any:
        return x + self._rng.random()

    def tensor(self, array: Any, dtype: str) -> Any:
        del dtype
        return array

    def read(self, output: Any) -> dict[str, Any] | None:
        if not isinstance(output, np.ndarray):
            return None
        return {"dtype": str(output.dtype), "array": output}

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def widened(self, value: Any) -> Any:
        return value.astype("float64") if isinstance(value, np.ndarray) else value

    def grown(self, tensor: Any) -> Any:
        return np.tile(tensor, [2 if size > 1 else 1 for size in tensor.shape])

    def laid_out(self, tensor: Any, layout: str) -> Any:
        """Return an array whose elements lie in the order of Fortran."""
        assert layout == "fortran"
        return np.asfortranarray(tensor)

    @property
    def copied(self) -> Callable[[Any], Any]:
        def copied(result: Any) -> Any:
            return result.copy() if isinstance(result, np.ndarray) else list(map(copied, result))

        return copied

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        return {"tripled": lambda function, tensors: function(*tensors) * 3}

    def stages(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        del mode
        return {"doubled": lambda function, tensors: function(*tensors) * 2}
