"""Adapter of TensorFlow 2."""

# ruff: noqa: SLF001 - public functions to build and read an eager tensor take twice as long

from __future__ import annotations

import contextlib
import importlib
import os
import random
import re
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.libraries.in_target import contract, devices, error_texts
from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.in_target.interpreter_state import InterpreterState
from ciguard.libraries.keras.in_target import state as keras_state
from ciguard.libraries.tensorflow.in_target import gradients, modes, registries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DTYPES = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "string",
)  # fmt: skip
_MAX_USED_SEEDS = 4096
_WRAPPED_PYTHON_ERROR = "Traceback (most recent call last)"
_UNSUPPORTED_IN_GRAPH = re.compile(
    r"OperatorNotAllowedInGraph|SymbolicTensor|[Ss]ymbolic (?:tf\.)?[Tt]ensor|graph mode|eager"
    r"|a graph tensor|singleton tf.Variable|while building a graph|out of scope"
    r"|compatible with tf.(?:contrib.eager.defun|function)|must return zero or more Tensors"
    r"|unsupported operations|compile-time constant|uncompilable|XLA|Unimplemented"
    r"|Unable to access shape and type info from variant|non-tensor type|DataTypeToPrimitiveType"
)
_GRAPH_STACK = re.compile(r'Graph execution error:.*\n  File "[^\n]*\n\s*', re.DOTALL)


class TensorflowAdapter(contract.Adapter):
    """Adapter of `tensorflow`, on a CPU or one GPU.

    `load` runs no operation: TensorFlow starts its thread pools with the first one, and processes
    that are forked afterwards hang occasionally. `start`, or else the first `tensor` or `reset`,
    starts the runtime.
    """

    module = "tensorflow"

    def load(self, device: str) -> None:
        """Import TensorFlow for one thread without logs; a GPU is detected by its driver's files.

        Raises:
            RuntimeError: if the device is absent.
        """
        devices.require(device, self.module)
        self._device = device
        self._on_cpu = devices.parse(device)[0] == "cpu"
        _prepare_environment(on_cpu=self._on_cpu)
        warnings.simplefilter("ignore")
        tensorflow = importlib.import_module("tensorflow")
        tensorflow.get_logger().setLevel("ERROR")
        # TensorFlow's own frames distinguish internal errors from others; hiding them takes time.
        tensorflow.debugging.disable_traceback_filtering()
        self._tensorflow = tensorflow
        _load_keras(tensorflow)
        registries.fill(tensorflow)
        self._ops: Any = importlib.import_module("tensorflow.python.framework.ops")
        contexts: Any = importlib.import_module("tensorflow.python.eager.context")
        self._context = contexts.context()
        self._device_name: str | None = None  # None until the runtime starts, with the first case
        self._name_dtypes()
        self._errors = _error_classes(tensorflow)
        self._seeds = _SeedSource()
        self._interpreter = InterpreterState()
        self._state = GlobalState([*self._state_accessors(contexts), *keras_state.accessors()])

    def _name_dtypes(self) -> None:
        """Store the dtypes by name, and the names by TensorFlow's numbers of dtypes."""
        dtypes: Any = importlib.import_module("tensorflow.python.framework.dtypes")
        self._dtypes = {name: getattr(self._tensorflow, name) for name in _DTYPES}
        self._arrays = {
            name: np.dtype(dtype.as_numpy_dtype) for name, dtype in self._dtypes.items()
        }
        dtype_objects = [
            value for value in vars(dtypes).values() if isinstance(value, dtypes.DType)
        ]
        self._names = {dtype._type_enum: dtype.name for dtype in dtype_objects}
        self._readable_numbers = frozenset(dtype._type_enum for dtype in self._dtypes.values())
        self._string_number = self._tensorflow.string._type_enum
        self._bfloat16_number = self._tensorflow.bfloat16._type_enum

    def _state_accessors(
        self, contexts: Any
    ) -> list[tuple[Callable[[], Any], Callable[[Any], object]]]:
        """Return a reader and a writer of each global value that a case may change."""
        tensorflow, ops, context = self._tensorflow, self._ops, self._context
        local = context._thread_local_data
        generators = importlib.import_module("tensorflow.python.ops.stateful_random_ops")
        stack = ops._default_graph_stack
        attributes = (
            (contexts, "default_execution_mode"),
            (local, "is_eager"),
            (local, "op_callbacks"),
            (context, "_soft_device_placement"),
            (context, "_log_device_placement"),
            (context, "_optimizer_jit"),
            (generators, "global_generator"),
        )
        accessors = [
            _attribute_accessors(owner, name) for owner, name in attributes if hasattr(owner, name)
        ]
        accessors.append(
            (tensorflow.config.functions_run_eagerly, tensorflow.config.run_functions_eagerly)
        )
        accessors.append((lambda: len(stack.stack), lambda depth: _truncate(stack.stack, depth)))
        return accessors

    def start(self) -> None:
        """Start TensorFlow's runtime and make a first tensor, which takes 20 ms."""
        self.tensor(np.zeros((), np.float32), "float32")

    def _start(self) -> None:
        """Start TensorFlow's runtime in this process."""
        context = self._context
        context.ensure_initialized()
        self._device_name = context.device_name
        if not self._on_cpu:
            names = [name for name in context.devices() if name.endswith("GPU:0")]
            if not names:
                msg = f"device {self._device!r} is absent: tensorflow finds no usable GPU"
                raise RuntimeError(msg)
            self._device_name = names[0]

    def start_device(self, memory_mib: int) -> None:
        """Start TensorFlow's runtime on the GPU, and run one operation.

        Raises:
            RuntimeError: if no GPU can be used.
        """
        tensorflow = self._tensorflow
        tensorflow.config.experimental.enable_tensor_float_32_execution(
            enabled=devices.allows_tf32()
        )
        limit_mib = min(memory_mib, devices.total_memory() // 2**20)
        gpus = tensorflow.config.list_physical_devices("GPU")
        limit = tensorflow.config.LogicalDeviceConfiguration(memory_limit=limit_mib)
        for gpu in gpus[:1]:
            tensorflow.config.set_logical_device_configuration(gpu, [limit])
        if self._device_name is None:
            self._start()
        matrix = self.tensor(np.eye(8, dtype=np.float32), "float32")
        tensorflow.linalg.matmul(matrix, matrix).numpy()

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per public function, raw operation and layer class."""
        catalogue = importlib.import_module("ciguard.libraries.tensorflow.in_target.catalogue")
        yield from catalogue.describe()

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return an eager tensor, which may share the array's memory.

        Raises:
            KeyError: if TensorFlow has no such dtype.
        """
        numpy_dtype = self._arrays[dtype]
        if array.dtype != numpy_dtype:
            array = array.astype(numpy_dtype)
        if self._device_name is None:
            self._start()
        if dtype == "string" and not self._on_cpu:
            return self._tensorflow.constant(array)
        return self._ops.EagerTensor(array, self._device_name, None)

    def dtype(self, name: str) -> Any:
        """Return TensorFlow's dtype object for a common name.

        Raises:
            AttributeError: if TensorFlow has no such dtype.
        """
        try:
            return self._dtypes[name]
        except KeyError:
            msg = f"tensorflow has no dtype {name!r}"
            raise AttributeError(msg) from None

    def read(self, output: Any) -> dict[str, Any] | None:
        """Return the contents of an eager tensor or variable, or the values of a sparse tensor."""
        if not isinstance(output, self._ops.EagerTensor):
            return self._read_other(output)
        number = output._datatype_enum()
        if number not in self._readable_numbers:
            name, shape = self._names.get(number, str(number)), output.shape.as_list()
            return {"dtype": name, "shape": shape, "note": "no numpy equal"}
        array = output._numpy_internal()
        if number == self._string_number:
            array = np.asarray(array, dtype=object)
        elif number == self._bfloat16_number:
            array = np.asarray(array, dtype=np.float32)
        else:
            array = np.asarray(array)
        return {"dtype": self._names[number], "array": array}

    def _read_other(self, output: Any) -> dict[str, Any] | None:
        """Return the contents of a variable, ragged, sparse or symbolic tensor; else None."""
        tensorflow = self._tensorflow
        note = ""
        part: Any = None
        try:
            if isinstance(output, tensorflow.Variable):
                part, note = output.read_value(), "variable"
            elif isinstance(output, tensorflow.RaggedTensor):
                part, note = output.flat_values, "flat values of a ragged tensor"
            elif isinstance(output, (tensorflow.SparseTensor, tensorflow.IndexedSlices)):
                part, note = output.values, "values of a sparse tensor"
        except (tensorflow.errors.OpError, RuntimeError, ValueError) as error:
            if not self._on_cpu and self.classify(error) != contract.REJECTED:
                raise
            return {"dtype": output.dtype.name, "note": f"variable: {type(error).__name__}"}
        if isinstance(part, self._ops.EagerTensor):
            return {"note": note, **(self.read(part) or {})}
        if isinstance(output, tensorflow.Tensor):
            return {"dtype": output.dtype.name, "note": "symbolic"}
        return None

    def reset(self, seed: int) -> None:
        """Restore TensorFlow, Keras, numpy and Python, and seed, in about 2 microseconds."""
        self._interpreter.restore()
        self._state.restore()
        if self._device_name is None:
            self._start()
        self._seeds.reset(self._context, seed)

    def vary(self, seed: int) -> None:
        """Set the seed of the generators of Python and numpy, see `Adapter`."""
        self._interpreter.vary(seed)

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return the functions of the modes `function` (a graph) and `xla` (a graph with XLA)."""
        return modes.modes()

    def without_gradient(self, tensor: Any) -> Any:
        """Return a tensor of which no gradient is taken."""
        return self._tensorflow.stop_gradient(tensor)

    def stages(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return the stages of graphs: traced only, optimised by Grappler, compiled by XLA."""
        return modes.stages(mode)

    def options(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return functions that optimise graphs with other options of Grappler."""
        return modes.with_options(mode)

    def with_gradients(
        self,
        run: Callable[[Callable[..., Any], list[Any]], Any],
        function: Callable[..., Any],
        tensors: list[Any],
    ) -> Any:
        """Return the result of a function, and the gradient of its weighted sum for each tensor."""
        return gradients.with_gradients(run, function, tensors)

    def widened(self, value: Any) -> Any:
        """Return a tensor or dtype in double precision; any other value as it is."""
        tensorflow = self._tensorflow
        if isinstance(value, tensorflow.DType):
            return self._widest(value)
        if self.is_tensor(value):
            return tensorflow.cast(value, self._widest(value.dtype))
        return value

    def _widest(self, dtype: Any) -> Any:
        if dtype.is_complex:
            return self._tensorflow.complex128
        return self._tensorflow.float64 if dtype.is_floating else dtype

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is an eager tensor; modes capture variables as constants."""
        return isinstance(value, self._ops.EagerTensor)

    def cannot_express(self, error: BaseException) -> bool:
        """Return whether an error means that graphs or XLA do not support the call."""
        return bool(_UNSUPPORTED_IN_GRAPH.search(f"{type(error).__name__}: {self.message(error)}"))

    def message(self, error: BaseException) -> str:
        """Return the message without the stack of the worker's code that built the graph."""
        return _GRAPH_STACK.sub("", str(error))

    def build_layer(self, layer: Any, inputs: list[Any]) -> None:
        """Build a layer for its only input; ignore layers with several inputs and other objects."""
        if len(inputs) != 1 or not self.is_tensor(inputs[0]) or getattr(layer, "built", True):
            return
        # The call reports errors of the input, as it does eagerly.
        with contextlib.suppress(AttributeError, NotImplementedError, TypeError, ValueError):
            layer.build(inputs[0].shape)

    def synchronise(self) -> None:
        """Wait until the GPU has finished; in old versions, only until operations are submitted."""
        if not self._on_cpu:
            wait = getattr(self._tensorflow.test.experimental, "sync_devices", None)  # since 2.12
            (wait or self._context.sync_executors)()

    def device_memory(self) -> tuple[int, int] | None:
        """Return the current and peak memory of tensors on the GPU."""
        if self._on_cpu:
            return None
        experimental = self._tensorflow.config.experimental
        memory = experimental.get_memory_info("GPU:0")
        experimental.reset_memory_stats("GPU:0")
        return int(memory["current"]), int(memory["peak"])

    def classify(self, error: BaseException) -> str:
        """Return the class of an exception, by its type and then by its message."""
        kind = super().classify(error)
        if kind != contract.REJECTED:
            return kind
        exhausted_classes, internal_classes = self._errors
        if isinstance(error, exhausted_classes):
            return contract.EXHAUSTED
        message = str(error)
        # `py_function` reports any exception of the user's Python code as an unknown error.
        if isinstance(error, internal_classes) and _WRAPPED_PYTHON_ERROR not in message:
            kind = error_texts.kind_of_message(message)
            return contract.ERRORED if kind == contract.REJECTED else kind
        return error_texts.kind_of_message(message)


class _SeedSource:
    """Replacement of TensorFlow's generator that draws a seed for each random operation.

    Seeding TensorFlow's generator for every case takes 5 microseconds. Cached kernels have a
    position in their random stream, but clearing the cache makes every later call 50 times slower.
    So the generator is seeded on first use. The cache is cleared only if a seed is repeated, since
    a cached kernel may have used it.
    """

    def __init__(self) -> None:
        self._seed = 0
        self._generator: random.Random | None = None
        self._used_seeds: set[int] = set()

    def reset(self, context: Any, seed: int) -> None:
        """Make `context` draw operation seeds from `seed`."""
        if self._generator is not None or getattr(context, "_rng", self) is not self:
            self._used_seeds.add(self._seed)
            self._generator = None
        if seed in self._used_seeds or len(self._used_seeds) > _MAX_USED_SEEDS:
            _clear_kernels(context)
            self._used_seeds.clear()
        self._seed = seed
        context._seed = seed
        context._rng = self

    def randint(self, low: int, high: int) -> int:
        """Return the next operation seed in [low, high]; called by TensorFlow."""
        if self._generator is None:
            self._generator = random.Random(self._seed)  # noqa: S311 - as TensorFlow itself does
        return self._generator.randint(low, high)


def _clear_kernels(context: Any) -> None:
    tfe: Any = importlib.import_module("tensorflow.python.pywrap_tfe")
    tfe.TFE_ContextClearCaches(context._context_handle)


def _prepare_environment(*, on_cpu: bool) -> None:
    """Set the environment variables that TensorFlow reads on import and start."""
    # Failed checks are always printed. Those of a device say less than the error before them.
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3" if on_cpu else "2"
    os.environ["TF_NUM_INTRAOP_THREADS"] = "1"
    os.environ["TF_NUM_INTEROP_THREADS"] = "1"
    if on_cpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"


def _load_keras(tensorflow: Any) -> None:
    """Import the Keras that TensorFlow exports, if this build has one."""
    try:
        _ = tensorflow.keras.layers
    except (AttributeError, ImportError):
        return


def _error_classes(tensorflow: Any) -> tuple[tuple[type, ...], tuple[type, ...]]:
    """Return the exception classes of exhausted resources, and of internal errors."""
    core: Any = importlib.import_module("tensorflow.python.eager.core")
    # TensorFlow should catch these two exceptions and translate them.
    leaked_classes = [
        getattr(core, name, None) for name in ("_FallbackException", "_NotOkStatusException")
    ]
    classes = [tensorflow.errors.InternalError, tensorflow.errors.UnknownError, *leaked_classes]
    internal_classes = [error for error in classes if isinstance(error, type)]
    return (tensorflow.errors.ResourceExhaustedError,), tuple(internal_classes)


def _attribute_accessors(
    owner: Any, name: str
) -> tuple[Callable[[], Any], Callable[[Any], object]]:
    return partial(getattr, owner, name), partial(setattr, owner, name)


def _truncate(items: list[Any], length: int) -> None:
    del items[length:]


ADAPTER = TensorflowAdapter
