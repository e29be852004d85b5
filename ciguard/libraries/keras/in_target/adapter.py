"""Adapter of Keras 3 with the backend that the target contains."""

from __future__ import annotations

import importlib
import importlib.util
import os
from functools import partial
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import contract
from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.keras.in_target import state, torch_draws

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BACKENDS = ("tensorflow", "torch", "jax")
"""Backends, in Keras's own order of preference."""


class KerasAdapter(contract.Adapter):
    """Adapter of `keras`. The backend's adapter makes tensors and classifies errors."""

    module = "keras"

    def load(self, device: str) -> None:
        """Import Keras with the backend in `KERAS_BACKEND`, or else the first installed backend.

        Raises:
            RuntimeError: if no backend is installed, or the device is absent.
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
        if name == "torch" and device != "cpu":
            torch_draws.draw_on_cpu(
                importlib.import_module("keras.src.backend.torch.random"),
                partial(self._keras.device, "cpu"),
                self._backend.note_draw,
            )
        self._state = GlobalState(state.accessors())

    def shares_compiled_code(self, mode: str) -> bool:
        """Return whether the backend shares compiled code."""
        return bool(self._backend.shares_compiled_code(mode))

    def keep_compiled_code(self, folder: str) -> None:
        """Share the code that the backend compiles, since models repeat operations and shapes."""
        self._backend.keep_compiled_code(folder)

    def start(self) -> None:
        """Start the runtime of the backend."""
        self._backend.start()

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
        """Return the name in Keras's standard form, since Keras accepts dtypes by name.

        Raises:
            AttributeError: if Keras has no such dtype.
        """
        try:
            return self._keras.backend.standardize_dtype(name)
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def read(self, output: Any) -> dict[str, Any] | None:
        """Return the contents of a tensor or variable; only the dtype of a symbolic tensor."""
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
        """Set the seed of the generators of Python and numpy, which determine initial weights."""
        self._backend.vary(seed)

    def without_gradient(self, tensor: Any) -> Any:
        """Return a tensor of which the backend takes no gradient."""
        return self._keras.ops.stop_gradient(tensor)

    def run_model(self, run: contract.ModelRun) -> Any:
        """Run a layer graph, see `models.run`.

        Raises:
            CannotComputeError: if the backend does not support the dtype of the computation.
            LayerError: if Keras raises an exception in a layer.
        """
        return self._models.run(self, run)

    def synchronise(self) -> None:
        """Wait until the device has finished."""
        self._backend.synchronise()

    def wait_for(self, output: Any) -> None:
        """Wait for a result with the backend's adapter."""
        self._backend.wait_for(output)

    def release_memory(self) -> None:
        """Free the device memory that the backend keeps."""
        self._backend.release_memory()

    def device_memory(self) -> tuple[int, int] | None:
        """Return the backend's current and peak use of the device's memory."""
        return self._backend.device_memory()

    def classify(self, error: BaseException) -> str:
        """Return the class of an exception by the backend's adapter."""
        return self._backend.classify(error)


def _installed_backend() -> str:
    for name in _BACKENDS:
        if importlib.util.find_spec(name) is not None:
            return name
    msg = f"keras needs a backend: add one of {', '.join(_BACKENDS)} to the target"
    raise RuntimeError(msg)


ADAPTER = KerasAdapter
