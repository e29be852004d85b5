"""Adapter of PyTorch."""

# ruff: noqa: SLF001 - public readers of versions and bases of tensors are slower

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import warnings
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target import contract, devices, error_texts
from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.in_target.interpreter_state import InterpreterState
from ciguard.libraries.torch.in_target import (
    element_types,
    layouts,
    modes,
    observer,
    state,
    warm_up,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_MAX_RESULTS = 8
_OFFSET_BYTES = 8
"""Size in bytes of the last part of a CUDA generator's state, which counts drawn numbers."""
_NO_EFFECTS: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())


class TorchAdapter(contract.Adapter):
    """Adapter of `torch`, on a CPU or one CUDA device."""

    module = "torch"
    mutable = True

    def load(self, device: str) -> None:
        """Import torch with one thread; a CUDA device is detected by the files of its driver.

        Raises:
            RuntimeError: if the device is absent.
        """
        # A process that has initialised CUDA cannot fork; NVML detects devices without that.
        os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
        # Otherwise inductor starts a pool of processes, each of which imports torch.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        if shutil.which("openssl") is None:  # inductor hashes the headers with it
            os.environ.setdefault("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")
        warnings.simplefilter("ignore")
        torch = importlib.import_module("torch")
        self._torch = torch
        torch.set_num_threads(1)
        if torch.get_num_interop_threads() != 1:  # a second call raises an error
            torch.set_num_interop_threads(1)
        self._device = torch.device(device)
        self._on_cpu = self._device.type == "cpu"
        self._generator: Any = None
        self._draws_noted = False
        if not self._on_cpu:
            self._check_device(device)
            # Factory functions must use the device of the arguments.
            torch.set_default_device(self._device)
            # TF32 rounds a float32's 23-bit mantissa to 10 bits; convolutions use it by default.
            torch.backends.cudnn.allow_tf32 = devices.allows_tf32()
            torch.backends.cuda.matmul.allow_tf32 = devices.allows_tf32()
        self._tensor_type = torch.Tensor
        self._from_numpy = torch.from_numpy
        self._dtypes = {
            name: getattr(torch, name) for name in element_types.NAMES if hasattr(torch, name)
        }
        self._names = {dtype: name for name, dtype in self._dtypes.items()}
        self._wider = {
            self._dtypes[name]: self._dtypes[wider_name]
            for name, wider_name in element_types.WIDER.items()
            if name in self._dtypes
        }
        self._interpreter = InterpreterState()
        self._state = GlobalState(state.accessors(torch))
        self._seed = torch.default_generator.manual_seed

    def shares_compiled_code(self, mode: str) -> bool:
        """Return whether the mode uses inductor; only inductor stores compiled code."""
        return mode == "compile"

    def keep_compiled_code(self, folder: str) -> None:
        """Make workers share the code that inductor compiles, in a folder that outlives them."""
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")

    def warm_up(self) -> None:
        """Run first calls on a CPU: they create oneDNN's engine and import modules lazily."""
        if self._on_cpu:  # a process that has used CUDA cannot fork
            warm_up.run(self._torch)

    def load_transformations(self) -> None:
        """Load torch.compile and forward-mode gradients, which take more than a second."""
        if self._on_cpu:
            warm_up.load_transformations(self._torch)

    def start_device(self, memory_mib: int) -> None:
        """Start CUDA, and load the libraries that contain most kernels.

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
        self._has_get_offset = hasattr(self._generator, "get_offset")  # since 2.1
        self.synchronise()
        torch.cuda.reset_peak_memory_stats(self._device)

    def rehearsal(self) -> list[list[Any]]:
        """Return cases of additions, reductions and rejections; none on a device."""
        return warm_up.rehearsal() if self._on_cpu else []

    def _check_device(self, device: str) -> None:
        """Raise an error if torch cannot have the device.

        Counting devices would start CUDA in this process for MIG devices, and without NVML.
        """
        devices.require(device, self.module)
        if not self._torch.backends.cuda.is_built():
            msg = f"device {device!r} is absent: torch {self._torch.__version__} has no CUDA"
            raise RuntimeError(msg)

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per public function, layer class and tensor method."""
        catalogue = importlib.import_module("ciguard.libraries.torch.in_target.catalogue")
        yield from catalogue.describe()

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return a tensor, which shares the array's memory if device and dtype allow it.

        Raises:
            KeyError: if torch has no such dtype.
        """
        torch_dtype = self._dtypes[dtype]
        tensor = self._from_numpy(array)
        if tensor.dtype is not torch_dtype:
            tensor = tensor.to(torch_dtype)
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
        """Return the contents of a tensor; on a CPU, the array shares the tensor's memory.

        On a device, the elements are left out if the case has drawn random numbers on it, since
        devices draw different numbers.

        Raises:
            RuntimeError: if an earlier operation failed on the device.
        """
        if not isinstance(output, self._tensor_type):
            return None
        dtype = output.dtype
        if not self._on_cpu and self._has_drawn():
            dtype_name = self._names.get(dtype, str(dtype).replace("torch.", ""))
            return {"dtype": dtype_name, "shape": list(output.shape), "note": "drawn on the device"}
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
            return {"dtype": name, "note": self._unreadable_reason(output, error)}

    def note_draw(self) -> None:
        """Note that numbers are drawn on the device, by a generator other than torch's own."""
        self._draws_noted = True

    def _has_drawn(self) -> bool:
        """Return whether numbers were drawn on the device since the last seed."""
        if self._draws_noted or self._generator is None:
            return self._draws_noted
        if self._has_get_offset:
            return bool(self._generator.get_offset())
        return any(self._generator.get_state()[-_OFFSET_BYTES:].tolist())

    def effects(self, inputs: Sequence[Any], output: Any) -> tuple[Sequence[int], Sequence[int]]:
        """Return the indices of changed inputs, and of inputs that share memory with a result."""
        try:
            return (
                _NO_EFFECTS
                if self._has_no_effects(inputs, output)
                else self._effects(inputs, output)
            )
        except RuntimeError:
            return _NO_EFFECTS  # tensors of inference mode have no versions

    def _has_no_effects(self, inputs: Sequence[Any], output: Any) -> bool:
        """Return, by a fast check, whether a call surely had no effects; most calls have none."""
        tensor_type = self._tensor_type
        for tensor in inputs:
            if tensor is output or (type(tensor) is tensor_type and tensor._version):
                return False
        if type(output) is tensor_type:
            return output._base is None
        return not isinstance(output, (list, tuple))

    def _effects(self, inputs: Sequence[Any], output: Any) -> tuple[list[int], list[int]]:
        """Return the same as `effects`, by a slower and complete check."""
        tensor_type = self._tensor_type
        results = output[:_MAX_RESULTS] if isinstance(output, (list, tuple)) else [output]
        owners = [
            result if result._base is None else result._base
            for result in results
            if type(result) is tensor_type
        ]
        return (
            [
                i
                for i, tensor in enumerate(inputs)
                if type(tensor) is tensor_type and tensor._version
            ],
            [i for i, tensor in enumerate(inputs) if any(tensor is owner for owner in owners)],
        )

    def _unreadable_reason(self, tensor: Any, error: Exception) -> str:
        for predicate in ("is_meta", "is_nested", "is_quantized", "is_mkldnn"):
            if getattr(tensor, predicate, False):
                return predicate.removeprefix("is_")
        layout = getattr(tensor, "layout", self._torch.strided)
        if layout is not self._torch.strided:
            return str(layout).replace("torch.", "")
        return type(error).__name__

    def reset(self, seed: int) -> None:
        """Restore torch, numpy and Python, and seed torch, in about 2 microseconds."""
        self._interpreter.restore()
        self._state.restore()
        self._seed(seed)
        if not self._on_cpu:
            self._draws_noted = False
            self._torch.cuda.manual_seed(seed)

    def vary(self, seed: int) -> None:
        """Set the seed of the generators of Python and numpy, see `Adapter`."""
        self._interpreter.vary(seed)

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return functions by mode, which run a function compiled, exported or traced."""
        return modes.modes()

    def stages(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return the stages of `torch.compile`; other modes have none."""
        return modes.stages(mode)

    def options(self, mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return functions that compile with other options of inductor."""
        return modes.options(mode)

    def with_gradients(
        self,
        run: Callable[[Callable[..., Any], list[Any]], Any],
        function: Callable[..., Any],
        tensors: list[Any],
    ) -> Any:
        """Return the result of a function, and the gradient of its weighted sum for each tensor."""
        torch = self._torch
        inputs = [tensor.requires_grad_() for tensor in tensors if tensor.is_floating_point()]
        result = run(function, tensors)
        terms = [
            (
                part
                * torch.linspace(contract.LOW_WEIGHT, contract.HIGH_WEIGHT, part.numel())
                .reshape(part.shape)
                .to(part.dtype)
            )
            .sum()
            .double()
            for part in self._parts(result)
            if part.is_floating_point() and part.requires_grad
        ]
        if not inputs or not terms:
            return [result, []]
        return [result, torch.autograd.grad(sum(terms), inputs, allow_unused=True)]

    def observing(self, note: Callable[[str, dict[str, Any]], None]) -> Any:
        """Return a context that notes each operator that runs in it."""
        return observer.observer(self._torch, self._names, note)

    @contextlib.contextmanager
    def without_gradients(self) -> Iterator[None]:
        """Do not compile the backward pass of layers, which takes as long as the forward pass."""
        with self._torch.no_grad():
            yield

    @contextlib.contextmanager
    def autocasting(self, dtype: str) -> Iterator[None]:
        """Run calls under `torch.autocast` within the context."""
        with self._torch.autocast(self._device.type, dtype=self._dtypes[dtype]):
            yield

    def grown(self, tensor: Any) -> Any:
        """Return a tensor that is repeated once along each axis with more than one element."""
        return tensor.repeat([2 if size > 1 else 1 for size in tensor.shape])

    def laid_out(self, tensor: Any, layout: str) -> Any:
        """Return a tensor in one of `LAYOUTS`, see `layouts`."""
        return layouts.LAYOUTS[layout](tensor, self._torch)

    @property
    def copied(self) -> Callable[[Any], Any]:
        """The function that clones a tensor, or each of a sequence."""
        return layouts.copier(self._torch)

    def run_grown(
        self,
        run: Callable[[Callable[..., Any], list[Any]], Any],
        function: Callable[..., Any],
        tensors: list[Any],
        others: list[Any],
    ) -> list[Any]:
        """Return the results for tensors, and for others with the code that was compiled before."""
        first = run(function, tensors)
        with modes.kept_code():
            return [first, run(function, others)]

    def _parts(self, result: Any) -> Iterator[Any]:
        if isinstance(result, self._tensor_type):
            yield result
        elif isinstance(result, (list, tuple)):
            for item in result:
                yield from self._parts(item)

    def widened(self, value: Any) -> Any:
        """Return a tensor, module or dtype in double precision; any other value as it is."""
        torch = self._torch
        if isinstance(value, torch.nn.Module):
            return value.double()
        if isinstance(value, torch.dtype):
            return self._widest(value)
        if isinstance(value, self._tensor_type):
            return value.to(self._widest(value.dtype))
        return value

    def _widest(self, dtype: Any) -> Any:
        if dtype.is_complex:
            return self._torch.complex128
        return self._torch.float64 if dtype.is_floating_point else dtype

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is a tensor."""
        return isinstance(value, self._tensor_type)

    def cannot_express(self, error: BaseException) -> bool:
        """Return whether an error means that torch's compiler or tracer does not support a call."""
        return modes.cannot_express(error)

    def without_gradient(self, tensor: Any) -> Any:
        """Return a detached view of a tensor."""
        return tensor.detach()

    def make_layer(self, layer: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Build a module on the CPU, where its weights are drawn, and move it to the device."""
        torch = self._torch
        if self._on_cpu or not (isinstance(layer, type) and issubclass(layer, torch.nn.Module)):
            return layer(*arguments, **keywords)
        try:
            with torch.device("cpu"):
                module = layer(*arguments, **keywords)
        except RuntimeError:  # the constructor computes with an argument on the device
            module = layer(*arguments, **keywords)
        return module.to(self._device)

    def synchronise(self) -> None:
        """Wait until the CUDA device has finished."""
        if not self._on_cpu:
            self._torch.cuda.synchronize(self._device)

    def release_memory(self) -> None:
        """Free the memory that torch keeps for later tensors."""
        if not self._on_cpu:
            self._torch.cuda.empty_cache()

    def device_memory(self) -> tuple[int, int] | None:
        """Return the current and peak memory of tensors on the device, without torch's cache."""
        if self._on_cpu:
            return None
        cuda = self._torch.cuda
        current_bytes, peak_bytes = (
            cuda.memory_allocated(self._device),
            cuda.max_memory_allocated(self._device),
        )
        cuda.reset_peak_memory_stats(self._device)
        return int(current_bytes), int(peak_bytes)

    def classify(self, error: BaseException) -> str:
        """Return the class of an exception, by its type and then by its message."""
        kind = super().classify(error)
        if kind != contract.REJECTED:
            return kind
        if isinstance(error, getattr(self._torch, "OutOfMemoryError", MemoryError)):
            return contract.EXHAUSTED
        return error_texts.kind_of_message(str(error))


ADAPTER = TorchAdapter
