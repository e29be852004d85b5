"""What PyTorch itself states about results on devices: its documentation, and its dispatcher."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target.device_notes import NO_KERNEL, NONDETERMINISTIC, notes_in
from ciguard.libraries.in_target.introspection import doc_of
from ciguard.libraries.torch.in_target.dispatcher import has_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

_CPU_KEYS = ("CPU", "MkldnnCPU", "QuantizedCPU", "SparseCPU", "SparseCsrCPU")
_DEVICE_KEYS = (
    "CUDA",
    "SparseCUDA",
    "SparseCsrCUDA",
    "QuantizedCUDA",
    "NestedTensorCUDA",
    "CompositeImplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)
"""Dispatch keys whose kernels run on a device; those of composite operators call others."""
_ENTRY = re.compile(
    r"^\s*\* :\w+:`torch\.(?P<path>[\w.]+)`(?P<condition>.*(?:\n(?!\s*\*|\n).*)*)", re.MULTILINE
)
"""Entry in a list of `torch.use_deterministic_algorithms`: name of the API, and condition."""
_NOT_IN_CALLS = re.compile(r"differentiate|requires grad|on a CPU\s+tensor|quantized|sparse")
"""Conditions under which calls with dense tensors on a device are deterministic all the same."""


class DeviceNotes:
    """Notes of the operators of this version, shared by functions, methods and layers."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._is_for_devices = bool(torch.version.cuda or getattr(torch.version, "hip", None))
        self._notes: dict[str, set[str]] = {}
        listed = doc_of(getattr(torch, "use_deterministic_algorithms", None))
        for path in nondeterministic_calls(listed):
            self._notes.setdefault(_key(path), set()).add(NONDETERMINISTIC)
        for owner in (torch, torch.Tensor, torch.nn, torch.nn.functional):
            for name in dir(owner):
                if not name.startswith("_") and (notes := notes_in(_doc(owner, name))):
                    self._notes.setdefault(_key(name), set()).update(notes)

    def of(self, api: str, operator: str = "") -> list[str]:
        """Return the notes of an API, sorted.

        Args:
            api: the qualified name.
            operator: the name of its operator, without an overload; may be empty.
        """
        notes = self._notes.get(_key(api), set())
        if operator and self._is_for_devices and lacks_kernel(self._torch, operator):
            notes = notes | {NO_KERNEL}
        return sorted(notes)


def nondeterministic_calls(doc: str) -> Iterator[str]:
    """Yield the names of the APIs in `torch.use_deterministic_algorithms`' lists, without `torch.`.

    APIs with nondeterministic gradients only are left out, since their results are specified.
    """
    for entry in _ENTRY.finditer(doc):
        if not _NOT_IN_CALLS.search(entry["condition"]):
            yield entry["path"]


def lacks_kernel(torch: Any, operator: str) -> bool:
    """Return whether an operator has kernels for CPUs, but none that runs on a device.

    Builds for CPUs register no kernels of devices, so only other builds know.
    """
    on_device = has_kernel(torch, operator, _DEVICE_KEYS)
    return not on_device and has_kernel(torch, operator, _CPU_KEYS)


def _key(api: str) -> str:
    """Return what the names of a function, its method and its layer have in common."""
    return api.rpartition(".")[2].replace("_", "").lower()


def _doc(owner: Any, name: str) -> str:
    return doc_of(getattr(owner, name, None))
