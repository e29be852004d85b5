"""Interface of adapters: the part of a library's support that runs inside the target.

The code runs on Python 3.9 and later, and uses only the standard library and numpy.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import (
    Any,
    Callable,
    Iterable,
    Iterator,
    NamedTuple,
    Sequence,
)

REJECTED = "rejected"
"""Class of errors with which a library rejects the user's arguments."""
ERRORED = "errored"
"""Class of internal errors of a library."""
EXHAUSTED = "exhausted"
"""Class of errors about exhausted memory or another resource."""
LOST = "lost"
"""Class of errors after which this process cannot use the device any more."""

LOW_WEIGHT, HIGH_WEIGHT = 0.5, 1.5
"""Weights of the first and the last element of a result of which gradients are taken."""

INTERNAL_PYTHON_ERRORS = (NameError, RecursionError, SystemError, UnboundLocalError)
"""Exceptions that only a defect in library code raises, for any arguments."""


class CannotComputeError(NotImplementedError):
    """The target does not support what a case needs. This is not a defect of the library."""


class LayerError(Exception):
    """A library raised an exception in one layer of a model."""

    def __init__(self, node: str, cause: Exception, *, unbuilt: bool) -> None:
        super().__init__(f"layer {node!r}: {cause}")
        self.node = node
        """Name of the node in the graph."""
        self.cause = cause
        """Exception of the library."""
        self.unbuilt = unbuilt
        """True if this version cannot build such a layer with these arguments."""


class ModelRun(NamedTuple):
    """One run of one layer graph with its data."""

    case: dict[str, Any]
    """Third member of the JSON form of a `ciguard.domain.models.ModelCase`."""
    data: Sequence[Any]
    """Numpy arrays, one per input of the graph, in order."""
    truth: Any
    """Expected first output: a numpy array."""
    weights: Callable[..., list[Any]]
    """Function that returns a layer's weights: `execution.worker.layer_weights.arrays`."""


class Adapter:
    """Base class of adapters. A worker has one instance.

    The module of an adapter assigns its class to `ADAPTER`:

        ADAPTER = TorchAdapter
    """

    module = ""
    """Import name of the library."""
    mutable = False
    """True if calls can change tensors in place, or return views of their arguments."""

    def load(self, device: str) -> None:
        """Import the library, and set it to the device, one thread and quiet logs.

        The worker calls this method once, before it forks. If the library does not survive a fork
        afterwards, this method must not start a thread or run an operation.

        Args:
            device: the device, `cpu` or `cuda:0`.

        Raises:
            RuntimeError: if the device is absent.
        """
        del device
        importlib.import_module(self.module)

    def shares_compiled_code(self, mode: str) -> bool:
        """Return whether workers share compiled code, see `keep_compiled_code`; False by default.

        A fuzzed call in one worker could tamper with the shared code of the others.
        """
        del mode
        return False

    def keep_compiled_code(self, folder: str) -> None:
        """Make workers share the code that the library compiles. By default do nothing.

        The worker calls this method after `load`.

        Args:
            folder: the folder for compiled code; it may not exist yet, and is removed at the end.
        """
        del folder

    def warm_up(self) -> None:
        """Run a few harmless operations, so that forked workers start with a prepared library.

        It is called after `load` if the library survives a fork after use. By default do nothing.
        """

    def load_transformations(self) -> None:
        """Load the compilers and gradient checks that relations use, so that workers need not.

        Called after `warm_up` if the cases have metamorphic relations. By default do nothing.
        """

    def rehearsal(self) -> Sequence[list[Any]]:
        """Return harmless cases in JSON form that warm up the worker's code after `warm_up`.

        By default, there are no cases.
        """
        return ()

    def start(self) -> None:
        """Start the library's runtime on the CPU in this process, so that the first case need not.

        It is called after the fork, in each process that runs cases on the CPU, and must not change
        any result. By default do nothing.

        Raises:
            Exception: any exception of the library, if its runtime cannot be started.
        """

    def start_device(self, memory_mib: int) -> None:
        """Start the device in this process and compute on it once, so that no case is slower.

        It is called after the fork, in each process that runs cases on a device other than the CPU.
        By default do nothing.

        Args:
            memory_mib: the limit for this process's use of the device's memory, in MiB; ignored if
                the library cannot limit it.

        Raises:
            Exception: any exception of the library, if the device cannot be used.
        """
        del memory_mib

    def version(self) -> str:
        """Return the version that the library reports."""
        return str(importlib.import_module(self.module).__version__)

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per public API, as JSON of `ciguard.domain.records.ApiRecord`."""
        raise NotImplementedError

    def models(self, sources: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield one record per seed model, with its graph as data or an error.

        Only libraries whose models are graphs of layers implement this method, see
        `ciguard.libraries.keras.in_target.seeds`.

        Args:
            sources: the descriptions of the seed models' sources.
        """
        raise NotImplementedError

    def resolve(self, path: str) -> Any:
        """Return the object with a qualified public name.

        Raises:
            AttributeError: if this version has no such name.
        """
        parts = path.split(".")
        value: Any = importlib.import_module(parts[0])
        for depth, part in enumerate(parts[1:], start=2):
            try:
                value = getattr(value, part)
            except AttributeError:
                try:
                    value = importlib.import_module(".".join(parts[:depth]))
                except ImportError:
                    raise AttributeError(path) from None
        return value

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return a tensor of the library on the device, from a numpy array.

        Args:
            array: the elements, of any shape. Its dtype is `dtype` if numpy has it, float32 for
                bfloat16 and other dtypes that numpy lacks, and object (of `bytes`) for `string`.
            dtype: the common name of the dtype, see `ciguard.domain.dtypes`.

        Raises:
            Exception: any, if this library has no such dtype; the case is then not counted.
        """
        raise NotImplementedError

    def dtype(self, name: str) -> Any:
        """Return the library's dtype object for a common name.

        Raises:
            AttributeError: if the library has no such dtype.
        """
        raise NotImplementedError

    def read(self, output: Any) -> dict[str, Any] | None:
        """Return the contents of a tensor of the library; None for other objects.

        Returns:
            `{"dtype": common name, "array": numpy array}`. If the elements cannot be read (meta,
            quantised, sparse, resource), `"note"` with the reason replaces `array`, and `"shape"`
            is present if known. Elements of bfloat16, which numpy lacks, are returned as float32,
            with the dtype `bfloat16`.
        """
        raise NotImplementedError

    def effects(self, inputs: Sequence[Any], output: Any) -> tuple[Sequence[int], Sequence[int]]:
        """Return the indices of changed inputs, and of inputs that share memory with the result.

        It is called after every case with tensors, so it must take less than a microsecond.

        Args:
            inputs: the tensors of the case, as `tensor` returned them, and its numpy arrays.
            output: the result of the call.
        """
        del inputs, output
        return (), ()

    def reset(self, seed: int) -> None:
        """Restore the library's global state and seed its generators, before every case.

        It must take only a few microseconds: check first, and restore only what a case changed.
        """
        raise NotImplementedError

    def vary(self, seed: int) -> None:
        """Set the seed to which `reset` restores the generators of Python and numpy.

        Libraries draw seeds from these generators, which the seed of a case does not set.
        """

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return functions that run `function(*tensors)` in the modes other than eager, by name.

        `function` has only tensors as arguments; all other arguments of a call are constants in
        it. It is a layer, or a function whose source is in `linecache`. This method may be called
        before `load`.
        """
        return {}

    def stages(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return functions like those of `modes` that compile less, by name, the least first.

        They serve to name the part of a compiler that is at fault: the first of these functions
        with a wrong result has it. The last one compiles as the mode does. By default there are
        none.
        """
        del mode
        return {}

    def options(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return functions like those of `modes` that compile with other options, by name.

        Options must not change results; what a version of the library lacks has no effect. By
        default there are none.
        """
        del mode
        return {}

    def with_gradients(
        self,
        run: Callable[[Callable[..., Any], list[Any]], Any],
        function: Callable[..., Any],
        tensors: list[Any],
    ) -> Any:
        """Return the result of a function, and the gradient of its weighted sum for each tensor.

        The weights of the elements of a result increase evenly from `LOW_WEIGHT` to
        `HIGH_WEIGHT`, so that a gradient at the wrong place shows. Results and tensors that are not
        real floating-point numbers do not count.

        Args:
            run: runs a function of tensors, as `modes` does.
            function: the function.
            tensors: its arguments.

        Raises:
            NotImplementedError: if the library has no gradients. This is the default.
        """
        raise NotImplementedError

    @contextlib.contextmanager
    def without_gradients(self) -> Iterator[None]:
        """Record no operations for gradients in this context. By default there is no difference."""
        yield

    def grown(self, tensor: Any) -> Any:
        """Return a tensor that is repeated once along each axis with more than one element.

        Raises:
            NotImplementedError: if the library has no dynamic shapes. This is the default.
        """
        raise NotImplementedError

    def laid_out(self, tensor: Any, layout: str) -> Any:
        """Return a tensor of the same type and shape that lies otherwise in memory.

        It has the same elements, unless the layout is one of `Writer.overlapping`.

        Args:
            tensor: the tensor.
            layout: name of the layout, see `Writer.layouts`.

        Raises:
            NotImplementedError: if the library's tensors have no strides. This is the default.
        """
        raise NotImplementedError(layout)

    @property
    def copied(self) -> Callable[[Any], Any]:
        """The function that returns a copy of a result, a tensor or a sequence of results.

        Compilers trace it, so it must not need the adapter.

        Raises:
            NotImplementedError: if the library has no views of tensors. This is the default.
        """
        raise NotImplementedError

    def run_grown(
        self,
        run: Callable[[Callable[..., Any], list[Any]], Any],
        function: Callable[..., Any],
        tensors: list[Any],
        others: list[Any],
    ) -> list[Any]:
        """Return the results of a function of tensors, and of others after that.

        A compiler may keep what it compiled for the first ones. By default, it is unaware of them.

        Args:
            run: runs a function of tensors, as `modes` does.
            function: the function.
            tensors: its first arguments.
            others: larger ones, see `grown`.
        """
        return [run(function, tensors), run(function, others)]

    def flipped(self, tensor: Any) -> Any:
        """Return a tensor with its elements in reverse order along each axis.

        Raises:
            NotImplementedError: if the library does not vectorise functions. This is the default.
        """
        raise NotImplementedError

    def run_mapped(
        self,
        run: Callable[[Callable[..., Any], list[Any]], Any],
        function: Callable[..., Any],
        tensors: list[Any],
        others: list[Any],
    ) -> list[Any]:
        """Return the results of a function of tensors, and of others, computed at once.

        Args:
            run: runs a function of tensors, as `modes` does.
            function: the function, which is vectorised along a new first axis.
            tensors: its arguments.
            others: further arguments of the same types and shapes.

        Raises:
            NotImplementedError: if the library does not vectorise functions. This is the default.
        """
        raise NotImplementedError

    @contextlib.contextmanager
    def widening(self) -> Iterator[None]:
        """Allow double precision within the context. By default it needs no permission."""
        yield

    def autocasting(self, dtype: str) -> contextlib.AbstractContextManager[None]:
        """Return a context in which calls compute in a lower precision, where the library does.

        Args:
            dtype: name of the lower precision.

        Raises:
            NotImplementedError: if the library cannot. This is the default.
        """
        raise NotImplementedError(dtype)

    def widened(self, value: Any) -> Any:
        """Return a tensor, layer or dtype in double precision; any other value as it is.

        Raises:
            NotImplementedError: if the library cannot compute in double precision. This is the
                default.
        """
        raise NotImplementedError

    def observing(
        self, note: Callable[[str, dict[str, Any]], None]
    ) -> contextlib.AbstractContextManager[Any]:
        """Return a context that notes each operator that runs in it: its name and its arguments.

        The name is that in `ApiRecord.operator`. The arguments are live, by the operator's own
        names; see `ciguard.libraries.in_target.observed` for dtypes and other objects.

        Raises:
            NotImplementedError: if operators cannot be observed. This is the default.
        """
        raise NotImplementedError

    def is_tensor(self, value: Any) -> bool:
        """Return whether a mode treats a value as an input; other values are constants."""
        return self.read(value) is not None

    def message(self, error: BaseException) -> str:
        """Return the message of an error in a mode, without traces of ciguard's own code."""
        return str(error)

    def cannot_express(self, error: BaseException) -> bool:
        """Return whether an error means that the mode does not support the call at all.

        When in doubt, return True: a call is a finding only if the mode should accept it.
        """
        del error
        return False

    def build_layer(self, layer: Any, inputs: list[Any]) -> None:
        """Make a layer draw its weights now, eagerly, instead of in its first call.

        By default do nothing.
        """

    def run_model(self, run: ModelRun) -> Any:
        """Run a layer graph and return the values that its check compares, by name.

        Raises:
            CannotComputeError: if the library does not support layer graphs. This is the default.
            LayerError: if the library raises an exception in a layer.
            Exception: any other exception of the library.
        """
        del run
        msg = f"{self.module} does not support layer graphs"
        raise CannotComputeError(msg)

    def without_gradient(self, tensor: Any) -> Any:
        """Return a tensor with the same elements, of which no gradient is taken.

        If tensors are mutable, it shares the memory of `tensor`.

        Raises:
            NotImplementedError: if the library has no gradients. This is the default.
        """
        raise NotImplementedError

    def make_layer(self, layer: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Return a layer on the device with weights that depend on the seed only.

        A layer that draws weights must be built on the CPU, since generators of devices differ.
        """
        return layer(*arguments, **keywords)

    def synchronise(self) -> None:
        """Wait until the device has finished. On a CPU, do nothing.

        Raises:
            Exception: the first error of the device since the last call.
        """

    def wait_for(self, output: Any) -> None:
        """Wait until a result is computed and the device has finished."""
        del output
        self.synchronise()

    def release_memory(self) -> None:
        """Free device memory that the library keeps for later tensors. By default do nothing."""

    def device_memory(self) -> tuple[int, int] | None:
        """Return the device memory in use, and its peak since the last call, in bytes.

        None if the library does not report it.
        """
        return None

    def classify(self, error: BaseException) -> str:
        """Return the class of an exception: REJECTED, ERRORED, EXHAUSTED or LOST.

        When in doubt, return REJECTED: a false alarm costs more than a missed finding.
        """
        if isinstance(error, MemoryError):
            return EXHAUSTED
        if isinstance(error, INTERNAL_PYTHON_ERRORS):
            return ERRORED
        return REJECTED
