"""The process above a fork server: whatever that has started, daemons included, ends with it.

A process that calls setsid(2) and is left by its parent belongs to nobody that ends it. Here it
comes back to this process (`PR_SET_CHILD_SUBREAPER`), which has run nothing of the target's.
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
_MAX_SWEEP_S = 10.0
_LOOK_S = 0.5


def fork_below(control: int, look: Callable[[int], None]) -> bool:
    """Return in a child; this process stays, and ends once the child or its own parent has.

    Args:
        control: descriptor that only the child may hold: its end tells that the child is gone.
        look: called some times per second with the number of the child.

    Returns:
        Whether the kernel will give all orphans back.
    """
    is_reaper = int(_LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)) == 0
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
    child = os.fork()
    if child:
        os.close(control)
        _leave(_stay(child, look))
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return is_reaper


def _stay(child: int, look: Callable[[int], None]) -> int:
    """Wait for the end; return how the child has ended, or 1 where it was ended.

    SIGUSR1 is handed on to the child, which writes its stack.
    """
    code = None
    due = time.monotonic() + _LOOK_S
    while code is None and (given := _next_signal(due)) != signal.SIGTERM:
        if given == signal.SIGUSR1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGUSR1)
        for pid, status in _ended():
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
        if code is None and time.monotonic() >= due:  # signals that keep coming put off nothing
            look(child)
            due = time.monotonic() + _LOOK_S
    end_all()
    return 1 if code is None else code


def _next_signal(due: float) -> int:
    """Return the next signal, or 0 when it is time to look."""
    info = signal.sigtimedwait(_AWAITED, max(0.0, due - time.monotonic()))
    return info.si_signo if info else 0


def _leave(code: int) -> NoReturn:
    """End as the child did: with its exit code, or by its signal."""
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):  # of a signal that no process can choose
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
        os.kill(os.getpid(), -code)
    os._exit(max(code, 0))


def _ended() -> list[tuple[int, int]]:
    """Reap the children that have ended."""
    ended = []
    with contextlib.suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            ended.append(child)
    return ended


def end_all() -> None:
    """Kill every child, and the children that those leave, until there is none."""
    deadline = time.monotonic() + _MAX_SWEEP_S
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            own = os.getpid()
            for child in [process.number for process in processes() if process.parent == own]:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)
            _ended()  # many end at a time, and the next look at all processes is slow


class Process(NamedTuple):
    """A process as `/proc` shows it."""

    number: int
    parent: int
    threads: int


def processes() -> Iterator[Process]:
    """Yield all processes that can be seen, those that have ended and wait for it included."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
            yield Process(int(name), int(fields[1]), int(fields[17]))
