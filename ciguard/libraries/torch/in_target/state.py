"""Global state of PyTorch."""

# ruff: noqa: SLF001 - public readers of global state are Python functions, ten times slower

from __future__ import annotations

import gc
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SMALLEST_DENORMAL = 5e-324


def accessors(torch: Any) -> list[tuple[Callable[[], Any], Callable[[Any], object]]]:
    """Return a reader and a writer of each global value that this version has."""
    native = torch._C
    device = getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None)
    candidates = (
        (torch, "get_default_dtype", torch.set_default_dtype),
        (torch, "is_grad_enabled", torch.set_grad_enabled),
        (
            torch,
            "is_inference_mode_enabled",
            lambda _: gc.collect(),
        ),  # the mode ends when its guard is freed
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
    accessors: list[tuple[Callable[[], Any], Callable[[Any], object]]] = [
        (getattr(owner, name), writer) for owner, name, writer in candidates if hasattr(owner, name)
    ]
    if device is not None:
        context = partial(vars(device).get, "device_context")
        accessors.append((context, lambda clean: _restore_device(torch, clean)))
    if hasattr(native, "_dispatch_tls_set_dispatch_key_excluded"):
        # A failed export may leave the key excluded, so that later exports of the process fail.
        key = native.DispatchKey.Python
        accessors.append(
            (
                partial(native._dispatch_tls_is_dispatch_key_excluded, key),
                partial(native._dispatch_tls_set_dispatch_key_excluded, key),
            )
        )
    # `set_flush_denormal` changes the processor's mode, which affects Python's floats, too.
    accessors.append((_flushes_denormals, torch.set_flush_denormal))
    return accessors


def _flushes_denormals() -> bool:
    return _SMALLEST_DENORMAL * 1.0 == 0.0


def _restore_device(torch: Any, context: Any) -> None:
    torch.set_default_device(None)
    if context is not None:
        context.__enter__()
    torch._GLOBAL_DEVICE_CONTEXT.device_context = context


def _unwind_functions(torch: Any, depth: int) -> None:
    # The default device is a mode on this stack, so torch itself must remove it.
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
