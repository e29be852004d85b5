"""Whether a device exists, found out without waking its driver.

Libraries that count GPUs initialise CUDA, and a process that has done so cannot fork.
"""

from __future__ import annotations

from pathlib import Path

_DRIVER_FILES = ("/dev/nvidia{index}", "/dev/dxg", "/proc/driver/nvidia/gpus")
"""One of them exists where the driver is loaded: Linux, containers, Windows' Linux."""


def parse(device: str) -> tuple[str, str]:
    """Return kind and index of a device such as `cpu`, `cuda` or `cuda:1`."""
    kind, _, index = device.partition(":")
    return kind, index or "0"


def require(device: str, library: str) -> None:
    """Check that a device can exist on this machine.

    Raises:
        RuntimeError: if it cannot; the message names device and library.
    """
    kind, index = parse(device)
    if kind == "cpu":
        return
    files = [Path(name.format(index=index)) for name in _DRIVER_FILES]
    if kind != "cuda" or not any(file.exists() for file in files):
        msg = (
            f"device {device!r} is absent: no NVIDIA driver offers it to {library} on this machine"
        )
        raise RuntimeError(msg)
