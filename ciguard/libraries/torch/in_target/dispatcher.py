"""PyTorch's table of kernels, by operator and dispatch key."""

from __future__ import annotations

from typing import Any


def has_kernel(torch: Any, operator: str, keys: tuple[str, ...]) -> bool:
    """Return whether any overload has a kernel; builtins of TorchScript have schemas, but none.

    Args:
        torch: the module.
        operator: the operator without an overload, e.g. `aten::add`.
        keys: the names of dispatch keys.
    """
    namespace, _, name = operator.partition("::")
    packet = getattr(getattr(torch.ops, namespace, None), name, None)
    overloads = packet.overloads() if packet is not None else ()
    query = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001 - no public query
    for overload in overloads:
        full_name = operator if overload == "default" else f"{operator}.{overload}"
        try:
            if any(query(full_name, key) for key in keys):
                return True
        except RuntimeError:
            continue  # a builtin of TorchScript, which the dispatcher does not know
    return False
