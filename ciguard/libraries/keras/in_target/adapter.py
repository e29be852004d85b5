"""Keras 3, on whichever backend its target has."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import contract
from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.keras.in_target import state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BACKENDS = ("tensorflow", "torch", "jax")
"""In the order that Keras itself prefers them."""


class KerasAdapter(contract.Adapter):
    """Adapter of `keras`; tensors, seeds and error classes are those of the backend's adapter."""

    module = "keras"

    def load(self, device: str) -> None:
        """Import Keras on the backend that `KERAS_BACKEND` names, else on the first installed.

        Raises:
            RuntimeError: if there is no backend, or the device is absent.
        """
        name = os.environ.get("KERAS_BACKEND") or _installed_backend()
        os.environ["KERAS_BACKEND"] = name
        module = importlib.import_module(f"ciguard.libraries.{name}.in_target.adapter")
        self._backend: contract.Adapter = module.ADAPTER()
        self._backend.load(device)
        self._keras: Any = importlib.import_module("keras")
        self._models: Any = importlib.import_module("ciguard.libraries.keras.in_target.models")
        self._variable = self._keras.Variable
        self._symbol = self._keras.KerasTensor
        self._state = GlobalState(state.pieces())

    def shares_compiled(self, mode: str) -> bool:
        """Share where the backend does."""
        return bool(self._backend.shares_compiled(mode))

    def keep_compiled(self, folder: str) -> None:
        """Share what the backend compiles: models repeat few operations on few shapes."""
        self._backend.keep_compiled(folder)

    def start_device(self, memory_mib: int) -> None:
        """Start the device in the backend."""
        self._backend.start_device(memory_mib)

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per public function and per class whose objects are called."""
        catalogue = importlib.import_module("ciguard.libraries.keras.in_target.catalogue")
        yield from catalogue.describe()

    def models(self, sources: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield one record per seed model."""
        seeds = importlib.import_module("ciguard.libraries.keras.in_target.seeds")
        yield from seeds.describe_models(sources)

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return a tensor of the backend."""
        return self._backend.tensor(array, dtype)

    def dtype(self, name: str) -> Any:
        """Return the name itself: Keras takes dtypes by name.

        Raises:
            AttributeError: if Keras has no such dtype.
        """
        try:
            return self._keras.backend.standardize_dtype(name)
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def read(self, output: Any) -> dict[str, Any] | None:
        """Read a tensor of the backend or a Keras variable; a symbolic tensor only by name."""
        if isinstance(output, self._variable):
            output = output.value
        elif isinstance(output, self._symbol):
            return {"dtype": str(output.dtype), "note": "symbolic"}
        return self._backend.read(output)

    def reset(self, seed: int) -> None:
        """Restore Keras and its backend."""
        self._state.restore()
        self._backend.reset(seed)

    def vary(self, seed: int) -> None:
        """Let Python and numpy draw other numbers from now on: weights begin with those."""
        self._backend.vary(seed)

    def run_model(self, run: contract.ModelRun) -> Any:
        """Run a layer graph; see `keras_models.run`.

        Raises:
            CannotComputeError: if the backend lacks the type that it is to be computed in.
            LayerError: whatever Keras raises in a layer.
        """
        return self._models.run(self, run)

    def synchronise(self) -> None:
        """Wait until the device has finished."""
        self._backend.synchronise()

    def wait_for(self, output: Any) -> None:
        """Wait for a result as the backend's adapter does."""
        self._backend.wait_for(output)

    def release_memory(self) -> None:
        """Let the backend give back what it keeps of the device's memory."""
        self._backend.release_memory()

    def device_memory(self) -> tuple[int, int] | None:
        """Return what the backend takes of the device's memory."""
        return self._backend.device_memory()

    def classify(self, error: BaseException) -> str:
        """Judge the error as the backend's adapter does."""
        return self._backend.classify(error)


def _installed_backend() -> str:
    for name in _BACKENDS:
        if importlib.util.find_spec(name) is not None:
            return name
    msg = f"keras needs a backend beside it in the target: one of {', '.join(_BACKENDS)}"
    raise RuntimeError(msg)


ADAPTER = KerasAdapter
