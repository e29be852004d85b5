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

_COMPUTE_MODE = 20
"""Number of the attribute with the compute mode, see `CUdevice_attribute`."""
_EXCLUSIVE_MODES = {2: "prohibited", 3: "exclusive-process"}
"""Names of the compute modes in which a GPU does not accept several processes."""
_MPS_FOLDER = "/tmp/nvidia-mps"  # noqa: S108 - where the driver looks

_REMEDIES = {
    46: " (busy: another process has the GPU to itself)",
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
        RuntimeError: if the driver reports an error, whose number the message contains, or if the
            device does not accept several processes, as a target has several workers.
        OSError: if the driver's library is missing.
    """
    driver = ctypes.CDLL("libcuda.so.1")
    device, size, mode = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_int()
    for error in (
        driver.cuInit(0),
        driver.cuDeviceGet(ctypes.byref(device), 0),
        driver.cuDeviceTotalMem_v2(ctypes.byref(size), device),
        driver.cuDeviceGetAttribute(ctypes.byref(mode), _COMPUTE_MODE, device),
    ):
        if error:
            msg = f"the CUDA driver refuses to start: error {error}{_REMEDIES.get(error, '')}"
            raise RuntimeError(msg)
    if mode.value in _EXCLUSIVE_MODES and not _is_shared_by_mps():
        msg = (
            f"the GPU is in {_EXCLUSIVE_MODES[mode.value]} mode, but each target has several "
            "workers: set the mode with `nvidia-smi -c DEFAULT` as root"
        )
        raise RuntimeError(msg)
    return size.value


def _is_shared_by_mps() -> bool:
    """Return whether a server of the Multi-Process Service makes all processes one for the GPU."""
    folder = os.environ.get("CUDA_MPS_PIPE_DIRECTORY", _MPS_FOLDER)
    return os.path.exists(os.path.join(folder, "control"))
