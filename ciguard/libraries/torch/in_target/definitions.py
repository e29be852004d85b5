"""What PyTorch's definitions of operators state about the tensor that an operator is called with.

The definition of an operator computes dtype and shape of its result for tensors of the device
`meta`, which have no elements, and rejects what it does not define. Kernels of a device may lack
further dtypes.
"""

from __future__ import annotations

import warnings
from typing import Any

from ciguard.libraries.torch.in_target.dispatcher import has_kernel

_DTYPES = (
    "float32", "float64", "int64", "int32", "bool", "complex64", "uint8", "float16", "bfloat16",
    "int16", "int8", "complex128",
)  # fmt: skip
"""Dtypes that most operators support. Of `uint16` and its like PyTorch states that few do."""
_DENSE_KEYS = (
    "CPU",
    "MkldnnCPU",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
_OTHER_KEYS = ("QuantizedCPU", "SparseCPU", "SparseCsrCPU")
_COMPOSED = ("CompositeImplicitAutograd",)
_SHAPE = (2, 2)


def defined_dtypes(torch: Any, operator: str) -> list[str]:
    """Return the dtypes for which an operator of one tensor is defined.

    Only operators that the dispatcher has a definition of are asked, and in-place operators that
    are composed of these: others run code for tensors with elements. For example, `acos_` of
    integers is not defined, because the result is no integer.

    Args:
        torch: the module.
        operator: the operator without an overload, e.g. `aten::acos_`.

    Returns:
        The dtypes; empty if all are, or if the definition does not take one tensor alone.
    """
    is_composed_in_place = operator.endswith("_") and has_kernel(torch, operator, _COMPOSED)
    if not is_composed_in_place and not has_kernel(torch, operator, ("Meta",)):
        return []
    overload = getattr(getattr(torch.ops.aten, operator.partition("::")[2], None), "default", None)
    if overload is None:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dtypes = [name for name in _DTYPES if _is_defined(torch, overload, name)]
    return dtypes if "float32" in dtypes and len(dtypes) < len(_DTYPES) else []


def _is_defined(torch: Any, overload: Any, dtype: str) -> bool:
    try:
        overload(torch.empty(_SHAPE, dtype=getattr(torch, dtype), device="meta"))
    except Exception:  # noqa: BLE001 - definitions raise any exception; the dtype is not defined
        return False
    return True


def needs_other_layout(torch: Any, operator: str) -> bool:
    """Return whether an operator has kernels for quantised or sparse tensors only."""
    query = torch._C._dispatch_has_kernel_for_dispatch_key  # noqa: SLF001 - no public query
    try:
        is_dense = any(query(operator, key) for key in _DENSE_KEYS)
        return not is_dense and any(query(operator, key) for key in _OTHER_KEYS)
    except RuntimeError:
        return False  # a builtin of TorchScript, or an operator whose overloads all have names
