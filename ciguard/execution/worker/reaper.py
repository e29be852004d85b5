"""The reaper: parent of a fork server that ends all descendants of the server, even daemons.

A process that calls setsid(2) and outlives its parent would belong to no process that ends it. As
a child subreaper (`PR_SET_CHILD_SUBREAPER`), the reaper adopts it. The reaper runs none of the
target's code.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import time
from typing import Callable, Iterator, NamedTuple, NoReturn

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_AWAITED = (signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1)
_MAX_KILLING_S = 10.0
_CHECK_S = 0.5


def fork_below(control: int, check: Callable[[int], None]) -> bool:
    """Return in a forked child; this process supervises it, and exits after it or its own parent.

    Args:
        control: descriptor that is closed here, so that its end shows that the child is gone.
        check: function called several times per second with the child's process id.

    Returns:
        True if the kernel makes all orphans children of this process.
    """
    is_reaper = int(_LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    child = os.fork()
    if child:
        os.close(control)
        _exit_like(_supervise(child, check))
    signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
    return is_reaper


def _supervise(child: int, check: Callable[[int], None]) -> int:
    """Wait for the child or a request to terminate; return the child's exit code, or 1.

    SIGUSR1 is forwarded to the child, which writes its stack.
    """
    code = None
    due = time.monotonic() + _CHECK_S
    while code is None and (received := _next_signal(due)) != signal.SIGTERM:
        if received == signal.SIGUSR1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGUSR1)
        for pid, status in _reap():
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
        if code is None and time.monotonic() >= due:  # even if signals keep arriving
            check(child)
            due = time.monotonic() + _CHECK_S
    end_all()
    return 1 if code is None else code


def _next_signal(due: float) -> int:
    """Return the next signal, or 0 when the next check is due."""
    info = signal.sigtimedwait(_AWAITED, max(0.0, due - time.monotonic()))
    return info.si_signo if info else 0


def _exit_like(code: int) -> NoReturn:
    """Exit like the child: with its exit code, or by its signal."""
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):  # some signals cannot be handled
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
        os.kill(os.getpid(), -code)
    os._exit(max(code, 0))


def _reap() -> list[tuple[int, int]]:
    """Reap the children that have exited, and return their process ids and statuses."""
    exited = []
    with contextlib.suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            exited.append(child)
    return exited


def end_all() -> None:
    """Kill every child, including orphans that become children, until there is none."""
    deadline = time.monotonic() + _MAX_KILLING_S
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            process_id = os.getpid()
            for child in [
                process.number for process in processes() if process.parent == process_id
            ]:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)
            _reap()  # many exit at a time, and listing all processes is slow


class Process(NamedTuple):
    """A process in `/proc`."""

    number: int
    """Process id."""
    parent: int
    """Process id of the parent."""
    threads: int
    """Number of threads."""


def processes() -> Iterator[Process]:
    """Yield all visible processes, including zombies."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            yield Process(int(name), int(fields[1]), int(fields[17]))
