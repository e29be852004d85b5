"""Adapter of Jittor."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.libraries.in_target import contract, devices, error_texts
from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.in_target.interpreter_state import InterpreterState

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
)
_FLAGS = (
    "use_cuda",
    "lazy_execution",
    "auto_convert_64_to_32",
    "amp_level",
    "amp_reg",
    "auto_mixed_precision_level",
    "no_grad",
    "no_fuse",
    "th_mode",
    "profiler_enable",
    "use_parallel_op_compiler",
    "check_graph",
    "log_silent",
)
_FATAL_SIGNALS = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGCHLD")


class JittorAdapter(contract.Adapter):
    """Adapter of `jittor`, on a CPU or the first CUDA device.

    Operators run when they are called, or at the latest in `synchronise`. Thus an error is raised
    by the call, and not when its result is read later. Each combination of operator and dtype is
    compiled, which takes seconds. The kernels are cached in the folder of `JITTOR_HOME`.
    """

    module = "jittor"

    def load(self, device: str) -> None:
        """Import Jittor without logs. The first import on a machine compiles its core for minutes.

        Raises:
            RuntimeError: if the device is absent.
        """
        devices.require(device, self.module)
        on_cpu = devices.parse(device)[0] == "cpu"
        if on_cpu:
            os.environ["nvcc_path"] = ""  # noqa: SIM112 - Jittor's own spelling
        for name in ("use_mkl", "gdb_path", "addr2line_path"):
            # Otherwise Jittor downloads oneDNN, and runs a debugger on every crash.
            os.environ.setdefault(name, "0" if name == "use_mkl" else "")
        os.environ["log_silent"] = "1"  # noqa: SIM112 - Jittor's own spelling
        warnings.simplefilter("ignore")
        jittor: Any = importlib.import_module("jittor")
        self._jittor = jittor
        if not on_cpu and not jittor.has_cuda:
            msg = f"device {device!r} is absent: jittor was compiled without CUDA"
            raise RuntimeError(msg)
        self._on_cpu = on_cpu
        _remove_signal_handlers()
        _end_compiling_processes()
        jittor.flags.lazy_execution = 0
        jittor.flags.use_parallel_op_compiler = 0  # the compiler's threads would prevent forks
        self._flags = jittor.flags
        self._variable = jittor.Var
        self._arrays = {name: _numpy_dtype(name) for name in _DTYPES}
        self._interpreter = InterpreterState()
        self._state = self._saved_state()

    def _saved_state(self) -> GlobalState:
        return GlobalState(
            (partial(getattr, self._flags, name), partial(setattr, self._flags, name))
            for name in _FLAGS
            if hasattr(self._flags, name)
        )

    def start_device(self, memory_mib: int) -> None:
        """Compute on the device from now on. Afterwards, the process cannot fork.

        Raises:
            RuntimeError: if the device cannot be used.
        """
        del memory_mib  # Jittor cannot limit its memory
        devices.total_memory()  # raises an error with a remedy
        self._flags.use_cuda = 1
        self._state = self._saved_state()
        self._jittor.matmul(self._jittor.ones((8, 8)), self._jittor.ones((8, 8))).sync()
        self.synchronise()

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per public function, layer class and method of `Var`."""
        catalogue = importlib.import_module("ciguard.libraries.jittor.in_target.catalogue")
        yield from catalogue.describe()

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return a `Var` of exactly the dtype: 64-bit dtypes are not narrowed.

        Raises:
            KeyError: if Jittor has no such dtype.
        """
        numpy_dtype = self._arrays[dtype]
        if array.dtype != numpy_dtype:
            array = array.astype(numpy_dtype)
        flags = self._flags
        narrows = flags.auto_convert_64_to_32
        flags.auto_convert_64_to_32 = 0
        try:
            tensor = self._jittor.array(array)
        finally:
            flags.auto_convert_64_to_32 = narrows
        return tensor.bfloat16() if dtype == "bfloat16" else tensor

    def dtype(self, name: str) -> Any:
        """Return the function of Jittor that represents a dtype, such as `jittor.float32`.

        Raises:
            AttributeError: if Jittor has no such dtype.
        """
        if name not in self._arrays:
            msg = f"jittor has no dtype {name!r}"
            raise AttributeError(msg)
        return getattr(self._jittor, name)

    def read(self, output: Any) -> dict[str, Any] | None:
        """Return the contents of a `Var` that is already computed."""
        if not isinstance(output, self._variable):
            return None
        name = str(output.dtype)
        if name not in self._arrays:
            return {"dtype": name, "shape": list(output.shape), "note": "no numpy equal"}
        try:
            if name == "bfloat16":
                output = output.float32()
            return {"dtype": name, "array": output.numpy()}
        except (RuntimeError, TypeError, ValueError) as error:
            if not self._on_cpu and self.classify(error) != contract.REJECTED:
                raise
            return {"dtype": name, "note": type(error).__name__}

    def reset(self, seed: int) -> None:
        """Restore flags, numpy and Python, and seed Jittor, in about 1 microsecond."""
        self._interpreter.restore()
        self._state.restore()
        self._jittor.core.set_seed(seed)

    def vary(self, seed: int) -> None:
        """Set the seed of the generators of Python and numpy, see `Adapter`."""
        self._interpreter.vary(seed)

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return the function of mode `lazy`, Jittor's default: operators are delayed and fused."""
        return {"lazy": self._run_lazily}

    def _run_lazily(self, function: Callable[..., Any], variables: list[Any]) -> Any:
        self._flags.lazy_execution = 1  # `reset` restores the flag
        output = function(*variables)
        self.synchronise()
        return output

    def without_gradient(self, tensor: Any) -> Any:
        """Return a detached variable."""
        return tensor.detach()

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is a `Var`."""
        return isinstance(value, self._variable)

    def synchronise(self) -> None:
        """Run pending operators, so that errors are not raised when results are read.

        The argument makes `sync_all` wait for the device, too.
        """
        self._jittor.sync_all(True)  # noqa: FBT003 - a native function without keywords

    def release_memory(self) -> None:
        """Free the device memory that Jittor keeps for later variables."""
        if not self._on_cpu:
            self._jittor.gc()

    def classify(self, error: BaseException) -> str:
        """Return the class of an exception by its message, since all have the same type."""
        kind = super().classify(error)
        if kind != contract.REJECTED:
            return kind
        return error_texts.kind_of_message(str(error))


def _end_compiling_processes() -> None:
    """End the processes with which Jittor looks after its core; their threads prevent forks.

    Jittor starts others if it compiles in parallel once more.
    """
    utils: Any = sys.modules.get("jittor_utils")
    pool = getattr(utils, "p", None)
    if pool is not None:
        pool.terminate()
        pool.join()
        utils.pool_size = 0


def _remove_signal_handlers() -> None:
    """Remove Jittor's handlers, which print a trace and turn every crash into exit status 1."""
    for name in _FATAL_SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def _numpy_dtype(name: str) -> Any:
    return np.dtype("float32" if name == "bfloat16" else name)


ADAPTER = JittorAdapter
