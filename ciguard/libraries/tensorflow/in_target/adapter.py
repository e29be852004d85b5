"""TensorFlow 2."""

# ruff: noqa: SLF001 - the public ways to make and read an eager tensor cost twice as much

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
    "string",
)
_SEEDS_REMEMBERED = 4096
_WRAPPED_PYTHON_ERROR = "Traceback (most recent call last)"


_NO_GRAPH = re.compile(
    r"OperatorNotAllowedInGraph|SymbolicTensor|[Ss]ymbolic (?:tf\.)?[Tt]ensor|graph mode|eager"
    r"|a graph tensor|singleton tf.Variable|while building a graph|out of scope"
    r"|compatible with tf.(?:contrib.eager.defun|function)|must return zero or more Tensors"
    r"|unsupported operations|compile-time constant|uncompilable|XLA|Unimplemented"
    r"|Unable to access shape and type info from variant|non-tensor type|DataTypeToPrimitiveType"
)
_GRAPH_STACK = re.compile(r'Graph execution error:.*\n  File "[^\n]*\n\s*', re.DOTALL)


class TensorflowAdapter(contract.Adapter):
    """Adapter of `tensorflow`, on a CPU or one GPU.

    `load` imports and runs nothing: TensorFlow starts its thread pools with the first operation,
    and a process forked after that hangs now and then. The first `tensor` or `reset` starts it.
    """

    module = "tensorflow"

    def load(self, device: str) -> None:
        """Import TensorFlow for one thread, quietly; a GPU is looked for by its driver's files.

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
        # Its own frames are what tells an internal error from another; hiding them costs time too.
        tensorflow.debugging.disable_traceback_filtering()
        self._tensorflow = tensorflow
        _load_keras(tensorflow)
        self._ops: Any = importlib.import_module("tensorflow.python.framework.ops")
        contexts: Any = importlib.import_module("tensorflow.python.eager.context")
        self._context = contexts.context()
        self._place: str | None = None  # the runtime starts in the worker, at its first case
        self._name_dtypes()
        self._errors = _error_classes(tensorflow)
        self._seeds = _SeedSource()
        self._interpreter = InterpreterState()
        self._state = GlobalState([*self._pieces(contexts), *keras_state.pieces()])

    def _name_dtypes(self) -> None:
        dtypes: Any = importlib.import_module("tensorflow.python.framework.dtypes")
        self._dtypes = {name: getattr(self._tensorflow, name) for name in _DTYPES}
        self._arrays = {
            name: np.dtype(dtype.as_numpy_dtype) for name, dtype in self._dtypes.items()
        }
        known = [value for value in vars(dtypes).values() if isinstance(value, dtypes.DType)]
        self._names = {dtype._type_enum: dtype.name for dtype in known}
        self._plain = frozenset(dtype._type_enum for dtype in self._dtypes.values())
        self._text = self._tensorflow.string._type_enum
        self._brain = self._tensorflow.bfloat16._type_enum

    def _pieces(self, contexts: Any) -> list[tuple[Callable[[], Any], Callable[[Any], object]]]:
        """Return how to read and to put back what a case may change in TensorFlow itself."""
        tensorflow, ops, context = self._tensorflow, self._ops, self._context
        local = context._thread_local_data
        generators = importlib.import_module("tensorflow.python.ops.stateful_random_ops")
        stack = ops._default_graph_stack
        places = (
            (contexts, "default_execution_mode"),
            (local, "is_eager"),
            (local, "op_callbacks"),
            (context, "_soft_device_placement"),
            (context, "_log_device_placement"),
            (context, "_optimizer_jit"),
            (generators, "global_generator"),
        )
        pieces = [_attribute(owner, name) for owner, name in places if hasattr(owner, name)]
        pieces.append(
            (tensorflow.config.functions_run_eagerly, tensorflow.config.run_functions_eagerly)
        )
        pieces.append((lambda: len(stack.stack), lambda depth: _truncate(stack.stack, depth)))
        return pieces

    def _start(self) -> None:
        """Start TensorFlow's runtime in this process."""
        context = self._context
        context.ensure_initialized()
        self._place = context.device_name
        if not self._on_cpu:
            names = [name for name in context.devices() if name.endswith("GPU:0")]
            if not names:
                msg = f"device {self._device!r} is absent: tensorflow finds no usable GPU"
                raise RuntimeError(msg)
            self._place = names[0]

    def start_device(self, memory_mib: int) -> None:
        """Start TensorFlow's runtime on the GPU, and run one operation.

        Raises:
            RuntimeError: if no GPU can be used.
        """
        tensorflow = self._tensorflow
        tensorflow.config.experimental.enable_tensor_float_32_execution(enabled=False)
        found = tensorflow.config.list_physical_devices("GPU")
        limit = tensorflow.config.LogicalDeviceConfiguration(memory_limit=memory_mib)
        for gpu in found[:1]:
            tensorflow.config.set_logical_device_configuration(gpu, [limit])
        if self._place is None:
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
        wanted = self._arrays[dtype]
        if array.dtype != wanted:
            array = array.astype(wanted)
        if self._place is None:
            self._start()
        if dtype == "string" and not self._on_cpu:
            return self._tensorflow.constant(array)
        return self._ops.EagerTensor(array, self._place, None)

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
        """Read an eager tensor or a variable; of a sparse or ragged tensor its values only."""
        if not isinstance(output, self._ops.EagerTensor):
            return self._read_other(output)
        number = output._datatype_enum()
        if number not in self._plain:
            name, shape = self._names.get(number, str(number)), output.shape.as_list()
            return {"dtype": name, "shape": shape, "note": "no numpy equal"}
        array = output._numpy_internal()
        if number == self._text:
            array = np.asarray(array, dtype=object)
        elif number == self._brain:
            array = np.asarray(array, dtype=np.float32)
        else:
            array = np.asarray(array)
        return {"dtype": self._names[number], "array": array}

    def _read_other(self, output: Any) -> dict[str, Any] | None:
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
            return {"dtype": output.dtype.name, "note": f"variable: {type(error).__name__}"}
        if isinstance(part, self._ops.EagerTensor):
            return {"note": note, **(self.read(part) or {})}
        if isinstance(output, tensorflow.Tensor):
            return {"dtype": output.dtype.name, "note": "symbolic"}
        return None

    def reset(self, seed: int) -> None:
        """Restore the state of TensorFlow, Keras, numpy and Python; seed. About 2 microseconds."""
        self._interpreter.restore()
        self._state.restore()
        if self._place is None:
            self._start()
        self._seeds.reset(self._context, seed)

    def vary(self, seed: int) -> None:
        """Let Python and numpy draw other numbers from now on."""
        self._interpreter.vary(seed)

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return how to run a function as a graph, compiled by XLA or not."""
        return {"function": self._graphed, "xla": partial(self._graphed, jit_compile=True)}

    def _graphed(
        self, function: Callable[..., Any], tensors: list[Any], *, jit_compile: bool = False
    ) -> Any:
        # There is no control flow to convert: the function is a single call.
        settings = {"autograph": False, "jit_compile": jit_compile or None}
        return self._tensorflow.function(function, **settings)(*tensors)

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is an eager tensor: variables are captured."""
        return isinstance(value, self._ops.EagerTensor)

    def cannot_express(self, error: BaseException) -> bool:
        """Tell by what a graph lacks, such as values while it is made, and what XLA lacks."""
        return bool(_NO_GRAPH.search(f"{type(error).__name__}: {self.message(error)}"))

    def message(self, error: BaseException) -> str:
        """Return a message without the stack of where the graph was made, which is the worker's."""
        return _GRAPH_STACK.sub("", str(error))

    def build_layer(self, layer: Any, inputs: list[Any]) -> None:
        """Build a layer for its only input; one that takes more, or is no layer, stays as it is."""
        if len(inputs) != 1 or not self.is_tensor(inputs[0]) or getattr(layer, "built", True):
            return
        # What is wrong with the input is for the call to say, as it does eagerly.
        with contextlib.suppress(AttributeError, NotImplementedError, TypeError, ValueError):
            layer.build(inputs[0].shape)

    def synchronise(self) -> None:
        """Wait until the GPU has finished; executors wait for what is being sent, and no more."""
        if not self._on_cpu:
            wait = getattr(self._tensorflow.test.experimental, "sync_devices", None)  # since 2.12
            (wait or self._context.sync_executors)()

    def device_memory(self) -> tuple[int, int] | None:
        """Return what tensors take of the GPU."""
        if self._on_cpu:
            return None
        experimental = self._tensorflow.config.experimental
        known = experimental.get_memory_info("GPU:0")
        experimental.reset_memory_stats("GPU:0")
        return int(known["current"]), int(known["peak"])

    def classify(self, error: BaseException) -> str:
        """Tell user errors from internal ones by class, then by message."""
        kind = super().classify(error)
        if kind != contract.REJECTED:
            return kind
        exhausted, internal = self._errors
        if isinstance(error, exhausted):
            return contract.EXHAUSTED
        message = str(error)
        # `py_function` reports whatever the user's Python raised as an unknown error.
        if isinstance(error, internal) and _WRAPPED_PYTHON_ERROR not in message:
            kind = error_texts.kind_of_message(message)
            return contract.ERRORED if kind == contract.REJECTED else kind
        return error_texts.kind_of_message(message)


class _SeedSource:
    """Stands where TensorFlow keeps the generator that gives each random operation its seed.

    Seeding that generator for every case costs 5 microseconds, and clearing the cache of kernels,
    which hold the position in their random stream, makes every later call 50 times slower. So the
    generator is seeded when it is first drawn from, and the cache is cleared only when a seed comes
    again that some cached kernel may have been made with.
    """

    def __init__(self) -> None:
        self._seed = 0
        self._generator: random.Random | None = None
        self._used: set[int] = set()

    def reset(self, context: Any, seed: int) -> None:
        """Make `context` draw operation seeds from `seed`."""
        if self._generator is not None or getattr(context, "_rng", self) is not self:
            self._used.add(self._seed)
            self._generator = None
        if seed in self._used or len(self._used) > _SEEDS_REMEMBERED:
            _clear_kernels(context)
            self._used.clear()
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
    """Set what TensorFlow reads from the environment when it is imported or started."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # failed checks are printed all the same
    os.environ["TF_NUM_INTRAOP_THREADS"] = "1"
    os.environ["TF_NUM_INTEROP_THREADS"] = "1"
    if on_cpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"


def _load_keras(tensorflow: Any) -> None:
    """Import the Keras that belongs to this TensorFlow; some builds come without."""
    try:
        _ = tensorflow.keras.layers
    except (AttributeError, ImportError):
        return


def _error_classes(tensorflow: Any) -> tuple[tuple[type, ...], tuple[type, ...]]:
    """Return the classes of exhausted resources, and of internal errors."""
    core: Any = importlib.import_module("tensorflow.python.eager.core")
    # The last two are meant to be caught and translated inside TensorFlow.
    leaked = [getattr(core, name, None) for name in ("_FallbackException", "_NotOkStatusException")]
    classes = [tensorflow.errors.InternalError, tensorflow.errors.UnknownError, *leaked]
    internal = [found for found in classes if isinstance(found, type)]
    return (tensorflow.errors.ResourceExhaustedError,), tuple(internal)


def _attribute(owner: Any, name: str) -> tuple[Callable[[], Any], Callable[[Any], object]]:
    return partial(getattr, owner, name), partial(setattr, owner, name)


def _truncate(items: list[Any], length: int) -> None:
    del items[length:]


ADAPTER = TensorflowAdapter
