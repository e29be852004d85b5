"""Answers questions about an adapter, one per input line. Runs in a target's interpreter.

python adapter_probe.py REPOSITORY ADAPTER

Each answer is a line of JSON, then a line with `END` and the exit status of the child process.
"""

# ruff: noqa: PLC0415, BLE001, FBT003 - the library is imported last, and
# its interface is under test

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

END = "=== status "

_DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "string"),
)


def open_packages(root: str) -> None:
    for name in ("ciguard", "ciguard.execution", "ciguard.libraries"):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(root, *name.split(".")))]
        sys.modules[name] = package


def array_of(dtype: str) -> Any:
    import numpy as np

    if dtype == "string":
        return np.array([b"a", b"\xff"], dtype=object)
    return np.array([[0, 1], [1, 0]]).astype("float32" if dtype == "bfloat16" else dtype)


def round_trips(adapter: Any) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for dtype in _DTYPES:
        array = array_of(dtype)
        try:
            tensor = adapter.tensor(array.copy(), dtype)
        except Exception as error:
            results[dtype] = type(error).__name__
            continue
        contents = adapter.read(tensor)
        has_same_dtype = contents["dtype"] == dtype and contents["array"].dtype == array.dtype
        results[dtype] = bool(has_same_dtype and (contents["array"] == array).all())
        adapter.dtype(dtype)
    return results


def without_gradient(adapter: Any) -> Any:
    """Return the elements of a tensor of which no gradient is taken."""
    tensor = adapter.without_gradient(adapter.tensor(array_of("float32"), "float32"))
    return adapter.read(tensor)["array"].tolist()


def observed(adapter: Any) -> list[str]:
    """Return the operators of a maximum over windows and its gradient; none without observation."""
    library: Any = importlib.import_module(adapter.module)
    noted: dict[str, Any] = {}
    try:
        context = adapter.observing(lambda operator, arguments: noted.update({operator: arguments}))
    except NotImplementedError:
        return []
    import numpy as np

    tensor = adapter.tensor(np.ones((1, 1, 4, 4), "float32"), "float32")
    pool = library.nn.functional.max_pool2d
    with context:
        adapter.with_gradients(lambda run, t: run(*t), lambda x: pool(x, 2), [tensor])
    return [f"{operator}({', '.join(sorted(noted[operator]))})" for operator in sorted(noted)]


def started(adapter: Any) -> list[int]:
    """Return the threads of the process that forks, and of this one after its runtime started."""
    before = len(os.listdir(f"/proc/{os.getppid()}/task"))  # noqa: PTH208 - as it is meant
    adapter.start()
    adapter.start()
    assert round_trips(adapter)["float32"] is True
    return [before, len(os.listdir("/proc/self/task"))]  # noqa: PTH208


def filled(adapter: Any) -> bool:
    if adapter.module != "tensorflow":
        return False
    registries: Any = importlib.import_module("ciguard.libraries.tensorflow.in_target.registries")
    return bool(registries.fill(importlib.import_module("tensorflow")))


def non_tensors(adapter: Any) -> list[Any]:
    return [adapter.read(value) for value in (None, 1, 1.5, "a", b"a", [], (), {}, object())]


def draw(library: str) -> Any:
    module: Any = importlib.import_module(library)
    if library == "torch":
        return module.rand(3).tolist()
    if library == "tensorflow":
        return module.random.uniform([3]).numpy().tolist()
    if library == "jittor":
        return module.rand(3).numpy().tolist()
    import random

    return random.random()


def draws(adapter: Any) -> list[Any]:
    library = adapter.module
    numbers = []
    for seed in (5, 5, 6):
        adapter.reset(seed)
        numbers.append(draw(library))
    draw(library)
    adapter.reset(5)
    return [*numbers, draw(library)]


def disturb(library: str) -> None:
    module: Any = importlib.import_module(library)
    if library == "torch":
        module.set_default_dtype(module.float64)
        module.set_default_device("meta")
        module.set_grad_enabled(False)
        module.use_deterministic_algorithms(True)
        module.set_flush_denormal(True)
        module.autocast("cpu").__enter__()
        key = module._C.DispatchKey.Python
        module._C._dispatch_tls_set_dispatch_key_excluded(key, True)
    elif library == "tensorflow":
        module.config.run_functions_eagerly(True)
        module.keras.backend.set_floatx("float64")
        module.Graph().as_default().__enter__()
        module.random.set_seed(3)
    elif library == "jittor":
        module.flags.no_grad = 1
        module.flags.amp_level = 3
    elif library == "keras":
        module.config.set_floatx("float16")
        module.config.set_image_data_format("channels_first")
    else:
        module.config.update("jax_debug_nans", True)
        module.config.update("jax_numpy_rank_promotion", "raise")


def restored(adapter: Any) -> list[bool]:
    adapter.reset(1)
    clean = adapter._state.is_clean()
    disturb(adapter.module)
    disturbed = not adapter._state.is_clean()
    adapter.reset(1)
    return [clean, disturbed, adapter._state.is_clean()]


def survives_fork(adapter: Any) -> int:
    child = os.fork()
    if child == 0:
        adapter.reset(1)
        contents = adapter.read(adapter.tensor(array_of("float32"), "float32"))
        os._exit(0 if contents["array"].sum() == 2 else 1)
    return os.waitpid(child, 0)[1]


def described(adapter: Any) -> list[Any]:
    records = []
    for record in adapter.describe():
        if "skipped" in record:
            continue
        try:
            adapter.resolve(record["api"])
        except AttributeError:
            record["unresolved"] = True
        records.append(record)
    return records


def classifications(adapter: Any) -> list[str]:
    import numpy as np

    adapter.reset(1)
    kinds = []
    for attempt in (lambda: np.zeros(2**55), lambda: adapter.resolve(f"{adapter.module}.no_such")):
        try:
            attempt()
        except Exception as error:
            kinds.append(adapter.classify(error))
    return kinds


def rehearsed(adapter: Any) -> list[Any]:
    from ciguard.execution.worker import huge_pages
    from ciguard.execution.worker.loop import Executor

    adapter.warm_up()
    executor = Executor(adapter)
    first = [executor.execute(case) for case in adapter.rehearsal()]
    gathered = huge_pages.collapse()
    second = [executor.execute(case) for case in adapter.rehearsal()]
    statuses = sorted({chr(status) for status, _ in first})
    return [statuses, first == second, gathered % (2 * 1024 * 1024)]


def effects(adapter: Any) -> list[Any]:
    """Return the detected effects of a copy, of views, and of a call that changes a tensor."""
    tensors = [adapter.tensor(array_of("float32"), "float32") for _ in range(2)]
    observed = [adapter.effects(tensors, tensors[0] + 1)]
    if hasattr(tensors[0], "add_"):
        tensors[0].add_(1)
    if adapter.module == "torch":
        observed.append(adapter.effects(tensors, [tensors[1][1], tensors[1].T]))
    return [*observed, adapter.effects(tensors, tensors[0])]


def jax_contents_and_message(adapter: Any) -> list[Any]:
    """Return the contents of a tensor of another dtype than numpy's, and a compiler's message."""
    if adapter.module != "jax":
        return []
    import jax

    small = adapter.read(jax.numpy.zeros((2, 3), "float8_e4m3fn"))
    try:
        jax.lax.approx_max_k(jax.numpy.ones((4,)), 1, recall_target=0.0)
    except Exception as error:
        return [small, str(error)]
    return [small, ""]


def too_large_for_jax(adapter: Any) -> str:
    """Return the classification of an error from reading an array that memory is too small for."""
    if adapter.module != "jax":
        return ""
    import resource

    import jax

    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))
    try:
        adapter.read(jax.numpy.ones((65_500, 65_500)))
    except RuntimeError as error:
        return str(adapter.classify(error))
    return "read"


def kernels(adapter: Any) -> dict[str, bool]:
    """Return which operators of torch lack a kernel for devices, as this build knows them."""
    if adapter.module != "torch":
        return {}
    from ciguard.libraries.torch.in_target.device_notes import lacks_kernel

    names = ("aten::histogram", "aten::_foreach_mm", "aten::conv2d")
    return {name: lacks_kernel(adapter._torch, name) for name in names}


def built_for_a_device(adapter: Any) -> list[str]:
    """Return where a layer of torch draws its weights for a device, and where it has them then."""
    if adapter.module != "torch":
        return []
    torch: Any = adapter._torch

    class Layer(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.rand(2))
            self.drawn_on = str(self.weight.device)

    torch.set_default_device("meta")
    adapter._on_cpu, adapter._device = False, torch.device("meta")
    layer = adapter.make_layer(Layer, [], {})
    return [layer.drawn_on, str(layer.weight.device)]


QUESTIONS = {
    "built for a device": built_for_a_device,
    "kernels": kernels,
    "jax contents and message": jax_contents_and_message,
    "too large for jax": too_large_for_jax,
    "effects": effects,
    "rehearsed": rehearsed,
    "round-trips": round_trips,
    "without gradient": without_gradient,
    "non-tensors": non_tensors,
    "started": started,
    "filled": filled,
    "draws": draws,
    "observed": observed,
    "restored": restored,
    "survives-fork": survives_fork,
    "described": described,
    "classifications": classifications,
}


def reply(adapter: Any, question: str) -> Any:
    if question != "absent":
        return QUESTIONS[question](adapter)
    try:
        type(adapter)().load("cuda:7")
    except RuntimeError as error:
        return str(error)
    return None


def main() -> None:
    root, library = sys.argv[1:]
    open_packages(root)
    adapter = importlib.import_module(f"ciguard.libraries.{library}.in_target.adapter").ADAPTER()
    adapter.load("cpu")
    while question := sys.stdin.readline():
        # The library is loaded once, and each question is answered in a fresh child process.
        child = os.fork()
        if child == 0:
            try:
                answer = json.dumps(reply(adapter, question.strip()))
            except BaseException as error:
                answer = json.dumps({"failed": f"{question.strip()}: {error!r}"})
            sys.stdout.flush()
            os.write(1, f"\n{answer}\n".encode())
            os._exit(0)
        os.write(1, f"\n{END}{os.waitpid(child, 0)[1]}\n".encode())


if __name__ == "__main__":
    main()
