"""Adapter of JAX."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.libraries.in_target import contract, devices, error_texts
from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.in_target.interpreter_state import InterpreterState
from ciguard.libraries.jax.in_target import options, transforms
from ciguard.libraries.jax.in_target.device_memory import DeviceMemory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DTYPES = (
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
_SETTINGS = (
    "jax_enable_x64",
    "jax_disable_jit",
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_numpy_dtype_promotion",
    "jax_numpy_rank_promotion",
    "jax_default_matmul_precision",
    "jax_default_device",
)
_CACHE_SETTINGS = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}
"""Settings that cache every kernel; JAX's defaults cache kernels that take long to compile."""
_TRACEBACK_LIMIT = "jax_traceback_in_locations_limit"
"""Setting for the number of caller frames in compiler messages, which would be the worker's."""
_NOT_TRACED = re.compile(r"[Tt]race[rd]|concrete|is not a valid JAX type|Batching rule")
_INTERNAL_STATUS = re.compile(r"^\s*(?:INTERNAL|UNKNOWN):")


class JaxAdapter(contract.Adapter):
    """Adapter of `jax`, on a CPU or one GPU, with JAX's default settings.

    64-bit dtypes need `JAX_ENABLE_X64=1` in the target's environment; without it, JAX silently
    converts them to 32 bits. `load` runs no operation, since the first one starts JAX's threads.
    """

    module = "jax"

    def load(self, device: str) -> None:
        """Import JAX for one thread; a GPU is detected by the files of its driver.

        Raises:
            RuntimeError: if the device is absent.
        """
        devices.require(device, self.module)
        kind, _ = devices.parse(device)
        os.environ["JAX_PLATFORMS"] = kind
        os.environ.setdefault("NPROC", "1")
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        self._on_cpu = kind == "cpu"
        self._last_array: Any = None
        """Array on the device; None until the device is started."""
        self._device_memory: DeviceMemory | None = None
        warnings.simplefilter("ignore")
        self._jax: Any = importlib.import_module("jax")
        self._numpy: Any = importlib.import_module("jax.numpy")
        for name in ("jax.scipy", "jax.nn", "jax.lax", "jax.random", "jax.image"):
            importlib.import_module(name)
        self._arrays = {name: np.dtype(getattr(self._numpy, name)) for name in _DTYPES}
        self._names = {dtype: name for name, dtype in self._arrays.items()}
        self._interpreter = InterpreterState()
        config = self._jax.config
        if hasattr(config, _TRACEBACK_LIMIT):  # not in older versions
            config.update(_TRACEBACK_LIMIT, 0)
        self._state = GlobalState(
            (partial(getattr, config, name), partial(config.update, name))
            for name in _SETTINGS
            if hasattr(config, name)
        )

    def start_device(self, memory_mib: int) -> None:
        """Start XLA on the device, and compile and run one operation.

        Raises:
            RuntimeError: if the device cannot be used.
        """
        share = min(0.9, memory_mib * 2**20 / devices.total_memory())
        os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = f"{share:.4f}"
        matrix = self._numpy.eye(8)
        self._jax.block_until_ready(matrix @ matrix)
        self._last_array = matrix
        self._device_memory = DeviceMemory(self._jax.local_devices()[0].memory_stats, self._bytes)

    def _bytes(self, size: int) -> Any:
        return self._jax.block_until_ready(self._numpy.zeros(size, np.uint8))

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per public function of `jax.numpy`, `lax`, `nn`, `scipy`, `random`."""
        catalogue = importlib.import_module("ciguard.libraries.jax.in_target.catalogue")
        yield from catalogue.describe()

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return an array of JAX.

        Raises:
            KeyError: if JAX has no such dtype.
            TypeError: if JAX's settings narrow the dtype.
        """
        numpy_dtype = self._arrays[dtype]
        if array.dtype != numpy_dtype:
            array = array.astype(numpy_dtype)
        tensor = self._numpy.asarray(array)
        if tensor.dtype != numpy_dtype:
            msg = f"jax makes {tensor.dtype} of {dtype}; set JAX_ENABLE_X64=1"
            raise TypeError(msg)
        return tensor

    def shares_compiled_code(self, mode: str) -> bool:
        """Return True, since each call compiles a kernel."""
        del mode
        return True

    def keep_compiled_code(self, folder: str) -> None:
        """Make JAX cache every kernel in a folder.

        A kernel has about 5 KB, and compiling it takes 20 to 50 ms.
        JAX compiles a kernel again if its file is damaged, e.g. by concurrent writers.
        """
        for name, value in _CACHE_SETTINGS.items():
            if hasattr(self._jax.config, name):  # some are missing in older versions
                self._jax.config.update(name, value)
        self._jax.config.update("jax_compilation_cache_dir", folder)

    def dtype(self, name: str) -> Any:
        """Return the JAX dtype object for a common name.

        Raises:
            AttributeError: if JAX has no such dtype.
        """
        if name not in self._arrays:
            msg = f"jax has no dtype {name!r}"
            raise AttributeError(msg)
        return getattr(self._numpy, name)

    def read(self, output: Any) -> dict[str, Any] | None:
        """Return the contents of an array; without elements for random keys and traced values.

        Raises:
            RuntimeError: if the computation ran out of memory. Reading such an array would crash
                the process, so this method waits for the computation first.
        """
        if not isinstance(output, self._jax.Array):
            return None
        name = self._names.get(output.dtype)
        shape = list(output.shape)
        if name is None:
            return {"dtype": str(output.dtype), "shape": shape, "note": "no numpy equal"}
        try:
            array = np.asarray(self._jax.block_until_ready(output))
        except (RuntimeError, TypeError, ValueError) as error:
            kind = self.classify(error)
            if kind == contract.EXHAUSTED or (kind != contract.REJECTED and not self._on_cpu):
                raise
            return {"dtype": name, "shape": shape, "note": type(error).__name__}
        if name == "bfloat16":
            array = array.astype(np.float32)
        return {"dtype": name, "array": array}

    def reset(self, seed: int) -> None:
        """Restore the settings of JAX and the state of numpy and Python in about 1 microsecond.

        JAX has no global generator: its random functions take a key as an argument.
        """
        del seed
        self._interpreter.restore()
        self._state.restore()

    def vary(self, seed: int) -> None:
        """Set the seed of the generators of Python and numpy, see `Adapter`."""
        self._interpreter.vary(seed)

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return the function of mode `jit`, which runs a function compiled as a whole."""
        return {"jit": lambda function, arrays: self._jax.jit(function)(*arrays)}

    def stages(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return the stages of `jax.jit`: traced only, compiled without and with optimisation."""
        del mode
        return {
            "tracing": self._run_traced,
            "lowering": partial(self._run_compiled, level="0"),
            "optimisation": partial(self._run_compiled, level="3"),
        }

    def options(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return functions that compile with other options of XLA."""
        del mode
        return {name: partial(self._run_with_options, name=name) for name in options.OPTIONS}

    def _run_with_options(self, function: Callable[..., Any], arrays: list[Any], name: str) -> Any:
        found = options.known_options(name)
        arguments = {"compiler_options": found} if found else {}  # older versions take none
        return self._jax.jit(function, **arguments)(*arrays)

    def _run_traced(self, function: Callable[..., Any], arrays: list[Any]) -> Any:
        """Return the result of the traced operations, each of which runs by itself."""
        jax = self._jax
        traced, form = jax.make_jaxpr(function, return_shape=True)(*arrays)
        results = jax.core.eval_jaxpr(traced.jaxpr, traced.consts, *arrays)
        return jax.tree.unflatten(jax.tree.structure(form), results)

    def _run_compiled(self, function: Callable[..., Any], arrays: list[Any], *, level: str) -> Any:
        options = {"xla_backend_optimization_level": level}
        lowered = self._jax.jit(function).lower(*arrays)
        return lowered.compile(compiler_options=options)(*arrays)

    def with_gradients(
        self,
        run: Callable[[Callable[..., Any], list[Any]], Any],
        function: Callable[..., Any],
        tensors: list[Any],
    ) -> Any:
        """Return the result of a function, and the gradient of its weighted sum for each tensor."""
        return transforms.with_gradients(run, function, tensors)

    def flipped(self, tensor: Any) -> Any:
        """Return an array with its elements in reverse order along each axis."""
        return self._numpy.flip(tensor)

    def run_mapped(
        self,
        run: Callable[[Callable[..., Any], list[Any]], Any],
        function: Callable[..., Any],
        tensors: list[Any],
        others: list[Any],
    ) -> list[Any]:
        """Return the results of a function for two lists of arrays, computed at once."""
        return transforms.run_mapped(run, function, tensors, others)

    @contextlib.contextmanager
    def widening(self) -> Iterator[None]:
        """Let arrays have 64-bit types within the context."""
        before = self._jax.config.jax_enable_x64
        self._jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - jax's own form
        try:
            yield
        finally:
            self._jax.config.update("jax_enable_x64", before)

    def widened(self, value: Any) -> Any:
        """Return an array or dtype in double precision; any other value as it is."""
        numpy = self._jax.numpy
        if isinstance(value, self._jax.Array):
            return value.astype(self._widest(value.dtype))
        if isinstance(value, type) and issubclass(value, numpy.generic):
            return self._widest(numpy.dtype(value))
        return value

    def _widest(self, dtype: Any) -> Any:
        numpy = self._jax.numpy
        if numpy.issubdtype(dtype, numpy.complexfloating):
            return numpy.complex128
        return numpy.float64 if numpy.issubdtype(dtype, numpy.floating) else dtype

    def without_gradient(self, tensor: Any) -> Any:
        """Return an array of which no gradient is taken."""
        return self._jax.lax.stop_gradient(tensor)

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is an array of JAX."""
        return isinstance(value, self._jax.Array)

    def cannot_express(self, error: BaseException) -> bool:
        """Return whether an error means that a function cannot be traced or vectorised."""
        errors = self._jax.errors
        is_tracing_error = isinstance(error, (errors.JAXTypeError, errors.JAXIndexError))
        return is_tracing_error or bool(_NOT_TRACED.search(str(error)))

    def synchronise(self) -> None:
        """Wait for effects, and for all pending work of the device.

        JAX has no function that waits for a device. A device computes in order, so a new result is
        awaited.
        """
        self._jax.effects_barrier()
        if self._last_array is not None:
            self._jax.block_until_ready(self._last_array + 1)

    def wait_for(self, output: Any) -> None:
        """Wait until the arrays in a result are computed."""
        self._jax.block_until_ready(output)

    def device_memory(self) -> tuple[int, int] | None:
        """Return the current and peak memory of arrays on the GPU."""
        return None if self._device_memory is None else self._device_memory.read()

    def classify(self, error: BaseException) -> str:
        """Return the class of an exception, by its type and then by its message."""
        kind = super().classify(error)
        if kind != contract.REJECTED:
            return kind
        message = str(error)
        kind = error_texts.kind_of_message(message)
        if kind != contract.REJECTED:
            return kind
        runtime_error = getattr(self._jax.errors, "JaxRuntimeError", ())
        if isinstance(error, runtime_error) and _INTERNAL_STATUS.match(message):
            return contract.ERRORED
        return contract.ERRORED if type(error).__name__ == "MLIRError" else contract.REJECTED


ADAPTER = JaxAdapter
