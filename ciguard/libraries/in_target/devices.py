"""Checks whether a device exists, and how much memory it has.

Libraries initialise CUDA to count GPUs; afterwards the process can no longer fork. `require` checks
the driver's files instead.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_DRIVER_FILES = ("/dev/nvidiactl", "/dev/dxg", "/proc/driver/nvidia/gpus")
"""Files of which one exists if the driver is loaded: on Linux, in WSL and in containers."""

_REMEDIES = {
    46: " (busy: exclusive-process mode allows one process at a time, so run one worker)",
    100: " (no device)",
    304: " (the system denies access: see docs/gpu.md on confinement)",
    803: " (the driver is older than the CUDA libraries)",
    804: " (compatibility libraries on a consumer GPU)",
}
"""Hints by error number, see `CUresult` in the CUDA Driver API."""


def parse(device: str) -> tuple[str, str]:
    """Return the kind and the index of a device such as `cpu`, `cuda` or `cuda:1`."""
    kind, _, index = device.partition(":")
    return kind, index or "0"


def require(device: str, library: str) -> None:
    """Raise an error if a device cannot exist on this machine.

    Raises:
        RuntimeError: if the device cannot exist. The message names the device and the library.
    """
    kind, _ = parse(device)
    if kind == "cpu":
        return
    if kind != "cuda" or not any(Path(name).exists() for name in _DRIVER_FILES):
        msg = (
            f"device {device!r} is absent: no NVIDIA driver for {library} was found on this machine"
        )
        raise RuntimeError(msg)


def allows_tf32() -> bool:
    """Return whether products may be rounded to TF32, as the environment of the target says."""
    return os.environ.get("NVIDIA_TF32_OVERRIDE") != "0"


def total_memory() -> int:
    """Return the total memory of the first visible device, in bytes. This initialises CUDA.

    Raises:
        RuntimeError: if the driver reports an error. The message contains its number.
        OSError: if the driver's library is missing.
    """
    driver = ctypes.CDLL("libcuda.so.1")
    device, size = ctypes.c_int(), ctypes.c_size_t()
    for error in (
        driver.cuInit(0),
        driver.cuDeviceGet(ctypes.byref(device), 0),
        driver.cuDeviceTotalMem_v2(ctypes.byref(size), device),
    ):
        if error:
            msg = f"the CUDA driver refuses to start: error {error}{_REMEDIES.get(error, '')}"
            raise RuntimeError(msg)
    return size.value
