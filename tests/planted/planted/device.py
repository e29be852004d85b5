"""A device that is none: asynchronous, with errors that stick, memory, and a costly start.

The functions compute at once on a CPU. With two devices, the second one is worn.

It does what NVIDIA's driver was seen to do when it starts (version 580), so that confinement is
tried on the same system calls, and raises what torch raises.
"""

from __future__ import annotations

import faulthandler
import os
import random
import socket
import threading
import time
from typing import Any, NoReturn

import numpy as np

_START_S = 0.3
_START_MIB = 300
_ENDLESS_S = 3600.0
_MEMORY = 1 << 30
_LARGEST = 64
"""Largest dimension of matrices of any type whose product takes a fraction of a second."""
_ILLEGAL = "CUDA error: an illegal memory access was encountered"
_ASSERTED = "CUDA error: device-side assert triggered"
_NOVEL = "CUDA error: a fault for which no version of this text has words"
_PASSING = "CUDA error: invalid argument"
"""Reported once, late; the context survives it."""


CPU_ONLY = ("hosted",)
"""The library's table of functions without a kernel for the device."""


class _Device:
    """State of this process's context."""

    def __init__(self) -> None:
        self.is_started = self.is_cpu = False
        self.pending = ""
        """What went wrong and was not reported yet."""
        self.is_lost = False
        self.library = bytearray()
        self.used = self.peak = 0
        self.drawn = self.launched = 0
        self.limit = _MEMORY
        self.busy_until = 0.0
        """When the kernels and copies so far have ended, on the clock of `time.monotonic`."""
        self.is_blocking = False
        """Whether each kernel ends before the call returns."""


_DEVICE = _Device()


def use(device: str) -> None:
    """Compute on a device, by name."""
    _DEVICE.is_cpu = device == "cpu"


def start(memory_mib: int) -> None:
    """Make a context, as `cuInit` and the first kernel do."""
    _name_thread()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
        try:
            asking.connect("/tmp/nvidia-mps/control")  # noqa: S108 - where the driver looks
        except FileNotFoundError:
            pass
        else:
            msg = "CUDA error: there is a server of the Multi-Process Service"
            raise RuntimeError(msg)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sharing:
        sharing.bind(f"\0cuda-uvmfd-{os.getpid()}")
        sharing.listen(128)
    if os.environ.get("PLANTED_DEVICE_BUSY"):
        msg = "CUDA error: all CUDA-capable devices are busy or unavailable"
        raise RuntimeError(msg)
    if os.environ.get("PLANTED_DEVICE_TAKEN") and faulthandler.is_enabled():
        msg = "CUDA error: another worker has taken it"  # since it was tried, without a handler
        raise RuntimeError(msg)
    time.sleep(_START_S)
    _DEVICE.library = bytearray(_START_MIB << 20)
    _DEVICE.limit = min(_MEMORY, memory_mib << 20)
    _DEVICE.is_blocking = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
    _DEVICE.is_started = True


def _name_thread() -> None:
    """Name a thread of this process as the driver does; it gives up with error 304 otherwise."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        path = f"/proc/self/task/{thread.native_id}/comm"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.write(descriptor, b"cuda-EvtHandlr")
        os.close(descriptor)
    except OSError as error:
        msg = f"CUDA error: OS call failed or operation not supported on this OS (304): {error}"
        raise RuntimeError(msg) from error
    finally:
        done.set()
        thread.join()


def synchronise() -> None:
    """Wait for all kernels, and raise what went wrong in one of them."""
    time.sleep(max(0.0, _DEVICE.busy_until - time.monotonic()))
    error = _DEVICE.pending
    if error == _PASSING:
        _DEVICE.pending = ""
    if error:
        _DEVICE.is_lost = error != _PASSING
        raise RuntimeError(error)


def reset(seed: int) -> None:
    """Seed the generator."""
    del seed
    _DEVICE.drawn = 0


def drawn() -> int:
    """Return how many numbers were drawn since."""
    return _DEVICE.drawn


def memory() -> tuple[int, int]:
    """Return bytes in use, and at most since the last call."""
    found = _DEVICE.used, _DEVICE.peak
    _DEVICE.peak = _DEVICE.used
    return found


def release() -> None:
    """Give back what is kept for later."""
    _DEVICE.used = 0


def _launch(error: str = "") -> None:
    if _DEVICE.is_cpu:
        return
    if not _DEVICE.is_started:
        start(_START_MIB)
    synchronise()
    _DEVICE.launched += 1
    _DEVICE.pending = error
    if _DEVICE.is_blocking:
        synchronise()


def add(x: Any) -> Any:
    """Add one to each element."""
    _launch()
    return x + 1


def far(x: Any) -> Any:
    """Touch memory that is not its own, which surfaces later."""
    _launch(_ILLEGAL)
    return x


def occupy(duration_s: float) -> None:
    """Keep the device busy for a while, and return at once."""
    _DEVICE.busy_until = max(_DEVICE.busy_until, time.monotonic()) + duration_s


def slow(x: Any) -> Any:
    """Launch a kernel that takes a tenth of a second, and return at once."""
    _launch()
    occupy(0.1)
    return x


def novel(x: Any) -> Any:
    """Break the context in a way that its message does not tell, which surfaces later."""
    _launch(_NOVEL)
    return x


def aborting(x: Any) -> NoReturn:
    """Touch memory that is not its own, whereupon the library ends the process."""
    del x
    _launch()
    os.write(2, b"E event.cc:76] CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access\n")
    os.abort()


def late(x: Any) -> Any:
    """Fail once, which surfaces later."""
    _launch(_PASSING)
    return x


def product(x: Any, y: Any) -> Any:
    """Multiply matrices, with their elements rounded to TF32 unless it is switched off."""
    _launch()
    sizes = (*np.shape(x), *np.shape(y))
    if len(sizes) > 6 or any(size > _LARGEST for size in sizes):
        msg = "the matrices are too large"
        raise ValueError(msg)
    return _rounded(x, bits=10) @ _rounded(y, bits=10)


def coarse_product(x: Any, y: Any) -> Any:
    """Do the same, but round to 4 bits."""
    _launch()
    return _rounded(x, bits=4) @ _rounded(y, bits=4)


def _rounded(x: Any, *, bits: int) -> Any:
    """Round the mantissas of floats of single precision, as the library's variable allows it."""
    is_off = _DEVICE.is_cpu or os.environ.get("NVIDIA_TF32_OVERRIDE") == "0"
    if is_off or x.dtype != np.float32:
        return x
    lost = 23 - bits
    whole = x.view(np.uint32) + np.uint32(1 << (lost - 1))
    return (whole & np.uint32(0xFFFFFFFF << lost & 0xFFFFFFFF)).view(np.float32)


def raced(x: Any) -> Any:
    """Touch memory that an earlier kernel frees, unless each kernel ends before the next."""
    _launch("" if _DEVICE.is_blocking else _ILLEGAL)
    return x


def asserted(x: Any) -> Any:
    """Refuse the arguments on the device, which surfaces later."""
    if _DEVICE.is_cpu:
        msg = "index out of range"
        raise IndexError(msg)
    _launch(_ASSERTED)
    return x


def refused_after(x: Any) -> Any:
    """Refuse the call in Python, after a kernel went wrong."""
    del x
    _launch(_ILLEGAL)
    msg = "the size must be positive"
    raise ValueError(msg)


def misconfigured(x: Any) -> Any:
    """Launch a kernel on no block, which the context survives."""
    _launch()
    if _DEVICE.is_cpu:
        return x
    msg = "CUDA error: invalid configuration argument"
    raise RuntimeError(msg)


def take(size: int) -> int:
    """Take memory of the device and keep it."""
    _launch()
    if _DEVICE.used + size > _DEVICE.limit:
        msg = f"CUDA out of memory. Tried to allocate {size} bytes"
        raise RuntimeError(msg)
    _DEVICE.used += size
    _DEVICE.peak = max(_DEVICE.peak, _DEVICE.used)
    return _DEVICE.used


def draw(x: Any) -> Any:
    """Draw numbers, which the generators of a CPU and of a device do not have in common."""
    _launch()
    _DEVICE.drawn += not _DEVICE.is_cpu
    return x * 0 + random.random() + _DEVICE.drawn


def worn(x: Any) -> Any:
    """Add one to each element, and another one on the second device."""
    _launch()
    return x + (2 if os.environ.get("CUDA_VISIBLE_DEVICES") == "1" else 1)


def put(x: Any) -> Any:
    """Write twice to each place. For duplicate indices, the result is nondeterministic."""
    _launch()
    written = x + 0
    return written if _DEVICE.is_cpu else written + _DEVICE.launched % 2


def largest(x: Any) -> Any:
    """Return the largest element and its index. The indices of tied elements are not guaranteed."""
    _launch()
    flat = x.reshape(-1)
    index = int(np.argmax(flat if _DEVICE.is_cpu else flat[::-1]))
    return np.asarray(flat.max()), index if _DEVICE.is_cpu else flat.size - 1 - index


def hosted(x: Any) -> Any:
    """Compute on a CPU, and refuse the device in words of its own."""
    _launch()
    if not _DEVICE.is_cpu:
        msg = "the array should be elsewhere"
        raise RuntimeError(msg)
    return x


def spin(x: Any) -> Any:
    """Launch a kernel that takes longer than any limit."""
    _launch()
    time.sleep(_ENDLESS_S)
    return x
