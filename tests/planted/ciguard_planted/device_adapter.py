"""The adapter of the planted device: what torch's does, on what `planted.device` emulates."""

from __future__ import annotations

import importlib
from typing import Any, Iterator  # noqa: UP035 - Python 3.9

import numpy as np

from ciguard.libraries.in_target import contract, device_notes, error_texts, introspection
from ciguard_planted.adapter import PlantedAdapter, record_of

_CALLED = ("add", "asserted", "draw", "far", "misconfigured", "product", "worn")
_NOTED = ("hosted", "largest", "put")
"""Functions about whose results on devices the library says something itself."""
_LARGE = 1 << 20
"""Bytes from which on a copy takes time."""
_COPY_S = 0.1


class PlantedDeviceAdapter(PlantedAdapter):
    """Arrays are numpy's; kernels run on a device whose errors come late."""

    def load(self, device: str) -> None:
        """Import the library."""
        super().load(device)
        self._device: Any = importlib.import_module("planted.device")
        self._device.use(device)

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield the records of what can be called on the device by chance."""
        names = (*_CALLED, *_NOTED)
        named = [(f"planted.device.{name}", getattr(self._device, name)) for name in names]
        yield from introspection.each(named, self._record)

    def _record(self, api: str, function: Any) -> dict[str, Any]:
        record = record_of(api, function)
        notes = device_notes.notes_in(record["doc"])
        if function.__name__ in self._device.CPU_ONLY:
            notes.append(device_notes.NO_KERNEL)
        return {**record, "on_devices": notes}

    def start_device(self, memory_mib: int) -> None:
        """Make a context."""
        self._device.start(memory_mib)

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return an array; a large one is copied to the device while the call returns."""
        if array.nbytes >= _LARGE:
            self._device.occupy(_COPY_S)
        return super().tensor(array, dtype)

    def reset(self, seed: int) -> None:
        """Seed the device's generator, too."""
        super().reset(seed)
        self._device.reset(seed)

    def read(self, output: Any) -> dict[str, Any] | None:
        """Read an array, unless it was drawn on the device."""
        read = super().read(output)
        if read is not None and self._device.drawn():
            array = read["array"]
            return {
                "dtype": read["dtype"],
                "shape": list(array.shape),
                "note": "drawn on the device",
            }
        return read

    def modes(self) -> dict[str, Any]:
        """Return a mode that calls a function of arrays."""
        return {"graph": lambda function, arrays: function(*arrays)}

    def is_tensor(self, value: Any) -> bool:
        """Return whether a value is an array."""
        return isinstance(value, np.ndarray)

    def cannot_express(self, error: BaseException) -> bool:
        """Take each error for one of the mode, as a compiler would that wraps all of them."""
        del error
        return True

    def synchronise(self) -> None:
        """Wait for all kernels."""
        self._device.synchronise()

    def release_memory(self) -> None:
        """Give back what is kept."""
        self._device.release()

    def device_memory(self) -> tuple[int, int] | None:
        """Return what is in use."""
        used, peak = self._device.memory()
        return used, peak

    def classify(self, error: BaseException) -> str:
        """Tell by class, then by message."""
        kind = super().classify(error)
        return error_texts.kind_of_message(str(error)) if kind == contract.REJECTED else kind


ADAPTER = PlantedDeviceAdapter
