"""What is there of a device: found out without waking its driver, and by its driver.

Libraries that count GPUs initialise CUDA, and a process that has done so cannot fork.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

_DRIVER_FILES = ("/dev/nvidiactl", "/dev/dxg", "/proc/driver/nvidia/gpus")
"""One of them exists where the driver is loaded: Linux, containers, Windows' Linux."""

_REMEDIES = {
    46: " (busy: in exclusive-process mode one process at a time may use it, so run one worker)",
    100: " (no device)",
    304: " (the system refuses what it needs: see docs/gpu.md on confinement)",
    803: " (the driver is older than the CUDA libraries)",
    804: " (compatibility libraries on a consumer GPU)",
}
"""By error number, see `CUresult` in the CUDA Driver API."""


def parse(device: str) -> tuple[str, str]:
    """Return kind and index of a device such as `cpu`, `cuda` or `cuda:1`."""
    kind, _, index = device.partition(":")
    return kind, index or "0"


def require(device: str, library: str) -> None:
    """Check that a device can exist on this machine.

    Raises:
        RuntimeError: if it cannot; the message names device and library.
    """
    kind, _ = parse(device)
    if kind == "cpu":
        return
    if kind != "cuda" or not any(Path(name).exists() for name in _DRIVER_FILES):
        msg = (
            f"device {device!r} is absent: no NVIDIA driver offers it to {library} on this machine"
        )
        raise RuntimeError(msg)


def total_memory() -> int:
    """Return the bytes of memory of the first device that this process sees. Starts CUDA.

    Raises:
        RuntimeError: if the driver refuses; the message holds its error number.
        OSError: if there is no driver's library.
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
