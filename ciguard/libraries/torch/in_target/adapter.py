"""PyTorch."""

# ruff: noqa: SLF001 - the public readers of global state are Python functions, ten times slower

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import contract, devices, error_texts
from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.in_target.interpreter_state import InterpreterState
from ciguard.libraries.torch.in_target import modes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    "complex32",
    "complex64",
    "complex128",
    "float8_e4m3fn",
    "float8_e5m2",
)
_WIDER = {
    "bfloat16": "float32",
    "float8_e4m3fn": "float32",
    "float8_e5m2": "float32",
    "complex32": "complex64",
}
"""What numpy lacks is read back in a type that holds every value exactly."""

_SMALLEST = 5e-324
_MAX_PARTS = 8
_OFFSET_BYTES = 8
"""Of the state of a CUDA generator, the last: how many numbers it has drawn."""
_NO_EFFECTS: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
_REHEARSED_DTYPES = ("float32", "float64", "int64", "int32", "bool", "complex64", "bfloat16")


class TorchAdapter(contract.Adapter):
    """Adapter of `torch`, on a CPU or one CUDA device."""

    module = "torch"
    mutable = True

    def load(self, device: str) -> None:
        """Import torch with one thread; a CUDA device is looked for without initialising CUDA.

        Raises:
            RuntimeError: if the device is absent.
        """
        # A process that has initialised CUDA cannot fork; asking the driver's library is harmless.
        os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
        # Inductor would start a pool of processes, each of which imports torch.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        warnings.simplefilter("ignore")
        torch = importlib.import_module("torch")
        self._torch = torch
        torch.set_num_threads(1)
        if torch.get_num_interop_threads() != 1:  # can be set once per process only
            torch.set_num_interop_threads(1)
        self._device = torch.device(device)
        self._on_cpu = self._device.type == "cpu"
        self._generator: Any = None
        if not self._on_cpu:
            self._check_device(device)
            # Factory functions must build on the device that the arguments are on.
            torch.set_default_device(self._device)
            # Both round to 10 bits of a float32's 23, convolutions by default.
            torch.backends.cudnn.allow_tf32 = False
            torch.backends.cuda.matmul.allow_tf32 = False
        self._tensor_type = torch.Tensor
        self._from_numpy = torch.from_numpy
        self._dtypes = {name: getattr(torch, name) for name in _DTYPES if hasattr(torch, name)}
        self._names = {dtype: name for name, dtype in self._dtypes.items()}
        self._wider = {
            self._dtypes[name]: self._dtypes[wide]
            for name, wide in _WIDER.items()
            if name in self._dtypes
        }
        self._interpreter = InterpreterState()
        self._state = GlobalState(_pieces(torch))
        self._seed = torch.default_generator.manual_seed

    def shares_compiled(self, mode: str) -> bool:
        """Share what inductor compiles; nothing else uses the folder."""
        return mode == "compile"

    def keep_compiled(self, folder: str) -> None:
        """Let workers share what inductor compiles; their own folders are gone when they are."""
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")

    def warm_up(self) -> None:
        """Let torch make what its first calls make: oneDNN's engine, lazy imports, error texts."""
        if not self._on_cpu:
            return  # CUDA, once in use, does not survive a fork
        torch = self._torch
        functional = torch.nn.functional
        matrix = torch.eye(3)
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            image, kernel = torch.ones(1, 1, 3, 3, dtype=dtype), torch.ones(1, 1, 2, 2, dtype=dtype)
            torch.conv2d(image, kernel)
            torch.mm(matrix.to(dtype), matrix.to(dtype))
        # Channels in groups take another path, whose kernels oneDNN writes for 10 ms or more.
        torch.conv2d(torch.ones(1, 4, 3, 3), torch.ones(4, 2, 2, 2), groups=2)
        for call in (
            functional.gelu,
            functional.softmax,
            torch.sort,
            torch.linalg.det,
            torch.fft.fft,
        ):
            with contextlib.suppress(TypeError):  # softmax lacks its dimension: errors load lazily
                call(matrix)
        functional.mse_loss(matrix, matrix)
        # A first call on another layout imports hundreds of Python modules: up to half a second.
        for convert in (lambda: matrix.to("meta"), matrix.to_sparse, matrix.to_sparse_csr):
            with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError):
                odd = convert()
                torch.sort(odd)
                functional.softmax(odd, 0)
        for call in (torch.argmax, torch.exp, torch.mean):
            call(matrix.to("meta"))
        with contextlib.suppress(RuntimeError):
            torch.mm(matrix, torch.ones(2))

    def start_device(self, memory_mib: int) -> None:
        """Start CUDA, and load the libraries that most kernels come from.

        Raises:
            RuntimeError: if the device cannot be used.
        """
        torch = self._torch
        share = memory_mib * 2**20 / devices.total_memory()
        torch.cuda.set_per_process_memory_fraction(min(1.0, share), self._device)
        matrix = torch.eye(8, device=self._device)
        image = torch.ones(1, 1, 8, 8, device=self._device)
        torch.conv2d(image, torch.ones(1, 1, 3, 3, device=self._device))
        torch.linalg.inv(torch.mm(matrix, matrix))
        self._generator = torch.cuda.default_generators[self._device.index or 0]
        self._reads_offset = hasattr(self._generator, "get_offset")  # since 2.1
        self.synchronise()
        torch.cuda.reset_peak_memory_stats(self._device)

    def rehearsal(self) -> list[list[Any]]:
        """Return additions, reductions and refusals over the usual dtypes; none for CUDA."""
        if not self._on_cpu:
            return []
        cases: list[list[Any]] = []
        for dtype in _REHEARSED_DTYPES:
            drawn = ["t", dtype, [2, 3], ["u", 1, 0.0, 3.0]]
            filled = ["t", dtype, [3], ["k", 1]]
            special = ["t", dtype, [2], ["s", 2]]
            cases += [
                ["torch.add", "function", [drawn, filled], [["alpha", 1]], [], 1],
                ["torch.sum", "function", [drawn], [["dim", ["l", [0]]]], [], 1],
                ["torch.eq", "function", [drawn, special], [], [], 1],
                ["torch.topk", "function", [drawn], [["k", 1]], [], 1],
                ["torch.Tensor.sort", "method", [filled], [], [], 1],
                ["torch.nn.functional.relu", "function", [drawn], [["unknown", None]], [], 1],
            ]
        return cases

    def _check_device(self, device: str) -> None:
        torch = self._torch
        count = torch.cuda.device_count() if self._device.type == "cuda" else 0
        if (self._device.index or 0) >= count:
            msg = (
                f"device {device!r} is absent: torch {torch.__version__} sees {count} CUDA devices"
            )
            raise RuntimeError(msg)

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per public function, layer class and tensor method."""
        catalogue = importlib.import_module("ciguard.libraries.torch.in_target.catalogue")
        yield from catalogue.describe()

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return a tensor that shares the array's memory where device and dtype allow.

        Raises:
            KeyError: if torch has no such dtype.
        """
        wanted = self._dtypes[dtype]
        tensor = self._from_numpy(array)
        if tensor.dtype is not wanted:
            tensor = tensor.to(wanted)
        return tensor if self._on_cpu else tensor.to(self._device)

    def dtype(self, name: str) -> Any:
        """Return torch's dtype object for a common name.

        Raises:
            AttributeError: if torch has no such dtype.
        """
        try:
            return self._dtypes[name]
        except KeyError:
            msg = f"torch has no dtype {name!r}"
            raise AttributeError(msg) from None

    def read(self, output: Any) -> dict[str, Any] | None:
        """Read a tensor back; on a CPU the array shares its memory, strides included.

        On a device the elements stay unread where the case has drawn random numbers there: no other
        device draws the same.

        Raises:
            RuntimeError: what went wrong on the device before.
        """
        if not isinstance(output, self._tensor_type):
            return None
        dtype = output.dtype
        if not self._on_cpu and self._has_drawn():
            named = self._names.get(dtype, str(dtype).replace("torch.", ""))
            return {"dtype": named, "shape": list(output.shape), "note": "drawn on the device"}
        name = self._names.get(dtype)
        if name is None:
            name, note = str(dtype).replace("torch.", ""), "numpy has no such dtype"
            return {"dtype": name, "shape": list(output.shape), "note": note}
        try:
            if dtype in self._wider:
                output = output.detach().to(self._wider[dtype])
            return {"dtype": name, "array": output.numpy(force=True)}
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            if not self._on_cpu and self.classify(error) != contract.REJECTED:
                raise
            return {"dtype": name, "note": self._why_unreadable(output, error)}

    def _has_drawn(self) -> bool:
        """Return whether the device's generator has moved since it was seeded."""
        if self._generator is None:
            return False
        if self._reads_offset:
            return bool(self._generator.get_offset())
        return any(self._generator.get_state()[-_OFFSET_BYTES:].tolist())

    def effects(self, made: Sequence[Any], output: Any) -> tuple[Sequence[int], Sequence[int]]:
        """Return which tensors have a new version, and which a result is, or is a view of."""
        try:
            return _NO_EFFECTS if self._is_quiet(made, output) else self._effects(made, output)
        except RuntimeError:
            return _NO_EFFECTS  # made in inference mode: nobody counts versions

    def _is_quiet(self, made: Sequence[Any], output: Any) -> bool:
        """Tell at little cost whether there is nothing to say: true of most calls."""
        tensor = self._tensor_type
        for one in made:
            if one is output or (type(one) is tensor and one._version):
                return False
        if type(output) is tensor:
            return output._base is None
        return not isinstance(output, (list, tuple))

    def _effects(self, made: Sequence[Any], output: Any) -> tuple[list[int], list[int]]:
        tensor = self._tensor_type
        parts = output[:_MAX_PARTS] if isinstance(output, (list, tuple)) else [output]
        owners = [
            part if part._base is None else part._base for part in parts if type(part) is tensor
        ]
        return (
            [i for i, one in enumerate(made) if type(one) is tensor and one._version],
            [i for i, one in enumerate(made) if any(one is owner for owner in owners)],
        )

    def _why_unreadable(self, tensor: Any, error: Exception) -> str:
        for claim in ("is_meta", "is_nested", "is_quantized", "is_mkldnn"):
            if getattr(tensor, claim, False):
                return claim[3:]
        layout = getattr(tensor, "layout", self._torch.strided)
        if layout is not self._torch.strided:
            return str(layout).replace("torch.", "")
        return type(error).__name__

    def reset(self, seed: int) -> None:
        """Restore the state of torch, numpy and Python, seed torch. About 2 microseconds."""
        self._interpreter.restore()
        self._state.restore()
        self._seed(seed)
        if not self._on_cpu:
            self._torch.cuda.manual_seed(seed)

    def vary(self, seed: int) -> None:
        """Let Python and numpy draw other numbers from now on."""
        self._interpreter.vary(seed)

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return how to run a function compiled, exported or traced."""
        return modes.modes()

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is a tensor."""
        return isinstance(value, self._tensor_type)

    def cannot_express(self, error: BaseException) -> bool:
        """Tell by the classes of torch's compiler, and by what its tracer says."""
        return modes.cannot_express(error)

    def make_layer(self, layer: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Build a module on the CPU, as its weights are drawn there, and move it to the device."""
        torch = self._torch
        if self._on_cpu or not (isinstance(layer, type) and issubclass(layer, torch.nn.Module)):
            return layer(*arguments, **keywords)
        try:
            with torch.device("cpu"):
                made = layer(*arguments, **keywords)
        except RuntimeError:  # it computes with an argument that is on the device
            made = layer(*arguments, **keywords)
        return made.to(self._device)

    def synchronise(self) -> None:
        """Wait until the CUDA device has finished."""
        if not self._on_cpu:
            self._torch.cuda.synchronize(self._device)

    def release_memory(self) -> None:
        """Let go of the blocks that torch keeps for later tensors."""
        if not self._on_cpu:
            self._torch.cuda.empty_cache()

    def device_memory(self) -> tuple[int, int] | None:
        """Return what tensors take of the CUDA device, without what is kept for later ones."""
        if self._on_cpu:
            return None
        cuda = self._torch.cuda
        used, peak = cuda.memory_allocated(self._device), cuda.max_memory_allocated(self._device)
        cuda.reset_peak_memory_stats(self._device)
        return int(used), int(peak)

    def classify(self, error: BaseException) -> str:
        """Tell user errors from internal ones by class, then by message."""
        kind = super().classify(error)
        if kind != contract.REJECTED:
            return kind
        if isinstance(error, getattr(self._torch, "OutOfMemoryError", MemoryError)):
            return contract.EXHAUSTED
        return error_texts.kind_of_message(str(error))


def _pieces(torch: Any) -> list[tuple[Callable[[], Any], Callable[[Any], object]]]:
    """Return how to read and how to put back each piece of global state that this version has."""
    native = torch._C
    device = getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None)
    candidates = (
        (torch, "get_default_dtype", torch.set_default_dtype),
        (torch, "is_grad_enabled", torch.set_grad_enabled),
        (torch, "is_inference_mode_enabled", lambda _: gc.collect()),  # ends with its guard object
        (torch, "get_num_threads", torch.set_num_threads),
        (torch, "is_anomaly_enabled", torch.set_anomaly_enabled),
        (torch, "is_warn_always_enabled", torch.set_warn_always),
        (native, "_len_torch_function_stack", lambda depth: _unwind_functions(torch, depth)),
        (native, "_len_torch_dispatch_stack", lambda depth: _unwind_dispatch(torch, depth)),
        (native, "_is_any_autocast_enabled", lambda _: _end_autocast(torch)),
        (native, "_get_deterministic_algorithms", torch.use_deterministic_algorithms),
        (native, "_get_float32_matmul_precision", torch.set_float32_matmul_precision),
        (native, "_get_mkldnn_enabled", vars(native).get("_set_mkldnn_enabled")),
        (
            native,
            "_check_sparse_tensor_invariants",
            vars(native).get("_set_check_sparse_tensor_invariants"),
        ),
    )
    pieces: list[tuple[Callable[[], Any], Callable[[Any], object]]] = [
        (getattr(owner, name), put_back)
        for owner, name, put_back in candidates
        if hasattr(owner, name)
    ]
    if device is not None:
        context = partial(vars(device).get, "device_context")
        pieces.append((context, lambda clean: _put_back_device(torch, clean)))
    if hasattr(native, "_dispatch_tls_set_dispatch_key_excluded"):
        # A refused export leaves it so at times: every later one of the process is refused too.
        key = native.DispatchKey.Python
        pieces.append(
            (
                partial(native._dispatch_tls_is_dispatch_key_excluded, key),
                partial(native._dispatch_tls_set_dispatch_key_excluded, key),
            )
        )
    # `set_flush_denormal` changes the processor's mode, which Python's own floats obey too.
    pieces.append((_denormals_vanish, torch.set_flush_denormal))
    return pieces


def _denormals_vanish() -> bool:
    return _SMALLEST * 1.0 == 0.0


def _put_back_device(torch: Any, context: Any) -> None:
    torch.set_default_device(None)
    if context is not None:
        context.__enter__()
    torch._GLOBAL_DEVICE_CONTEXT.device_context = context


def _unwind_functions(torch: Any, depth: int) -> None:
    # The default device is a mode on this stack; leave that to whoever set it.
    torch.set_default_device(None)
    while torch._C._len_torch_function_stack() > depth:
        torch._C._pop_torch_function_stack()


def _unwind_dispatch(torch: Any, depth: int) -> None:
    while torch._C._len_torch_dispatch_stack() > depth:
        torch._C._pop_torch_dispatch_stack(None)


def _end_autocast(torch: Any) -> None:
    for device in ("cpu", "cuda"):
        torch.set_autocast_enabled(device, enabled=False)
    torch.clear_autocast_cache()


ADAPTER = TorchAdapter
