"""A library with planted defects, one per function, for the tests and benchmarks of ciguard.

Its tensors are numpy arrays. `PLANTED_VERSION=2.0` in the environment gives the "newer" library,
which computes `cube` wrongly, refuses what `tail` accepted, and dies in `fragile` for 7 as well.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import time
from typing import Any, Literal

import numpy as np

__version__ = os.environ.get("PLANTED_VERSION", "1.0")
_IS_NEW = __version__ >= "2"


def double(x: np.ndarray) -> Any:
    """Return twice `x`."""
    return np.asarray(x) * 2


def cube(x: np.ndarray) -> Any:
    """Return the third power of `x`; the newer library is wrong by one part in a thousand."""
    result = np.asarray(x, dtype=np.float64) ** 3
    return result * 1.001 if _IS_NEW else result


def tail(items: list[int], count: int = 1) -> Any:
    """Return the last items; the newer library refuses a negative count."""
    if _IS_NEW and count < 0:
        message = f"count must be non-negative, got {count}"
        raise ValueError(message)
    return items[-count:]


def fragile(n: int) -> int:
    """Die by SIGSEGV for a negative `n`; the newer library for 7 as well."""
    if n < 0 or (_IS_NEW and n == 7):
        ctypes.string_at(0)
    return n + 1


def checked(n: int) -> int:
    """Abort with a failed check for `n` above 1000."""
    if n > 1000:
        message = f"planted/check.cc:42] Check failed: n <= 1000 ({n} vs. 1000)\n"
        os.write(2, message.encode())
        os.abort()
    return n


def divide(n: int, by: int = 1) -> float:
    """Die by SIGFPE when `by` is 0."""
    if by == 0:
        os.kill(os.getpid(), signal.SIGFPE)
    return n / by


def spin(n: int) -> int:
    """Never return for a negative `n`."""
    while n < 0:
        pass
    return n


def leak(n: int) -> int:
    """Raise an internal error for 0."""
    if n == 0:
        msg = f"planted internal error: slot 0x{id(n):x}"
        raise SystemError(msg)
    return n


def noise(n: int = 3) -> Any:
    """Return something else on every call, and on every run."""
    return np.random.default_rng(random.SystemRandom().getrandbits(32)).random(abs(n) % 10)


def meet(how: str) -> str | None:
    """Meet the named end: the deaths of the isolation benchmark."""
    told: str | None = _ENDS[how]()
    return told


def _eat_memory() -> str:
    eaten = []
    while True:
        eaten.append(np.ones(16 * 1024 * 1024))


def _hoard() -> str:
    _KEPT.append(np.ones(5 * 1024 * 1024))
    return "kept 40 MiB"


_KEPT: list[np.ndarray] = []


def _flood() -> str:
    line = b"planted flood\n" * 4096
    while True:
        os.write(1, line)


def _write_gibibyte() -> str:
    block = b"x" * (1024 * 1024)
    for _ in range(1024):
        os.write(1, block)
    return "wrote 1 GiB"


def _fork_forever() -> str:
    while True:
        try:
            if os.fork() == 0:
                time.sleep(60)
        except OSError:
            time.sleep(0.001)


def _spin_forever() -> str:
    while True:
        pass


def _rest(seconds: float) -> str:
    time.sleep(seconds)
    return "rested"


def _kill(number: int) -> str:
    os.kill(os.getpid(), number)
    time.sleep(60)
    return "survived"


_ENDS: dict[str, Any] = {
    "SIGSEGV": lambda: str(ctypes.string_at(0)),
    "SIGABRT": os.abort,
    "SIGFPE": lambda: _kill(signal.SIGFPE),
    "SIGKILL": lambda: _kill(signal.SIGKILL),
    "exit": lambda: os._exit(3),
    "loop": _spin_forever,
    "memory": _eat_memory,
    "hoard": _hoard,
    "flood": _flood,
    "gibibyte": _write_gibibyte,
    "fork bomb": _fork_forever,
    "sleep": lambda: time.sleep(3600),
    "long rest": lambda: _rest(1.5 if _IS_NEW else 0.0),
    "systemexit": lambda: sys.exit(4),
    "fine": lambda: "fine",
}


def total(n: int, how: Literal["sum", "mean"] = "sum") -> float:
    """Take any word for `how`: what is not `mean` counts as `sum`."""
    return n / 2 if how == "mean" else float(n)


def remove(path: str) -> None:
    """Delete a file, as `tf.io.gfile.remove` does."""
    os.remove(path)  # noqa: PTH107


def read(path: str) -> str:
    """Return what a file holds; `~` is the home folder."""
    with open(os.path.expanduser(path), encoding="latin-1") as file:  # noqa: PTH111, PTH123
        return file.read()


def connect(port: int) -> None:
    """Open a network connection to this machine."""
    import socket  # noqa: PLC0415

    socket.create_connection(("127.0.0.1", port), timeout=1).close()


def close_everything() -> str:
    """Close every descriptor of the process, the worker's own included, and wait."""
    os.closerange(3, 256)
    time.sleep(3600)
    return "survived"


def worker_pid() -> int:
    """Return the process that runs the call."""
    return os.getpid()


def environment() -> list[str]:
    """Return the names of all environment variables."""
    return sorted(os.environ)


class Affine:
    """A layer: `weight * x`."""

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = weight

    def __call__(self, x: np.ndarray) -> Any:
        return self.weight * np.asarray(x)
