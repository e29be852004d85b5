"""Attacks on the protocol between ciguard, its fork servers and its workers.

Fuzzed native code, or code of a pull request, may do this to the worker that runs it. Nothing
leaves the machine.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any


def replace_server_log(by: str) -> str:
    """Put a link to a file in the place of the server's log; a FIFO if `by` is empty."""
    log = Path("../server.log")
    log.unlink(missing_ok=True)
    if by:
        log.symlink_to(by)
    else:
        os.mkfifo(log)
    return "replaced"


def nest(depth: int) -> int:
    """Make a folder in a folder in a folder, where the worker writes and beside that."""
    for start in (Path.cwd(), Path("..").resolve()):
        os.chdir(start)
        with contextlib.suppress(PermissionError):  # beside it, where Landlock is
            for _ in range(depth):
                os.mkdir("nested")  # noqa: PTH102 - the path is longer than the kernel takes
                os.chdir("nested")
    return depth


def shrink_cell() -> str:
    """Take away the shared memory that ciguard reads."""
    os.ftruncate(_descriptor("ciguard-cell"), 0)
    return "shrunk"


def say(text: str, times: int = 1) -> str:
    """Send something over the worker's connection, and go on."""
    connection = _connection()
    for _ in range(times):
        connection.send(text.encode("latin-1"))
    return "said"


def flood(text: str) -> None:
    """Send something over the worker's connection for ever, and read nothing."""
    connection = _connection()
    while True:
        connection.send(text.encode("latin-1") * 1000)


def turn_deaf() -> str:
    """Let the worker read nothing any more."""
    _loop().receive_exactly = lambda *_: time.sleep(3600)
    return "deaf"


def corrupt_for_later() -> str:
    """Let the worker crash after the call, as soon as it receives anything."""
    _loop().receive_exactly = lambda *_: os.abort()
    return "corrupted"


def run_for_ever() -> None:
    """Spin, and keep telling ciguard that the call has just begun."""
    writer = next(o for o in gc.get_objects() if type(o).__name__ == "CellWriter")
    number, _ = _progress(writer)
    while True:
        writer.begin_case(number, time.monotonic_ns())


def stop_server() -> str:
    """Stop the fork server, so that nobody ends this call."""
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(3600)
    return "stopped"


def pretend() -> str:
    """Let every later call of this worker pass, whatever it does."""
    _loop().Executor._execute = lambda *_: (ord("P"), b"null")
    return "pretending"


def pretend_for_calls(name: str) -> str:
    """Let every later call of one function pass that would crash."""
    executor = _loop().Executor
    honest = executor._execute

    def forged(own: Any, case: list[Any]) -> Any:
        return (ord("P"), b'["i","0"]') if name in case[0] else honest(own, case)

    executor._execute = forged
    return "pretending"


def other_cells(server: int) -> int:
    """Return how many cells of other workers can be opened and written."""
    workers = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii").split()
    if len(workers) < 2:
        raise LookupError(server)
    opened = 0
    for process in workers:
        if int(process) == os.getpid():
            continue
        try:
            opened += len(_writable_cells(f"/proc/{process}/fd"))
        except OSError:
            continue
    return opened


def later(seconds: float, how: str) -> str:
    """Return at once; do something to the connection when other calls run."""

    def act() -> None:
        time.sleep(seconds)
        say(how)

    threading.Thread(target=act, daemon=True).start()
    return "later"


def _writable_cells(folder: str) -> list[str]:
    paths = [f"{folder}/{name}" for name in os.listdir(folder)]  # noqa: PTH208
    cells = [path for path in paths if "ciguard-cell" in os.readlink(path)]  # noqa: PTH115
    for path in cells:
        os.close(os.open(path, os.O_RDWR))
    return cells


def _descriptor(name: str) -> int:
    for entry in os.listdir("/proc/self/fd"):  # noqa: PTH208
        try:
            if name in os.readlink(f"/proc/self/fd/{entry}"):  # noqa: PTH115
                return int(entry)
        except OSError:
            continue
    raise LookupError(name)


def _connection() -> socket.socket:
    return socket.socket(fileno=os.dup(_descriptor("socket:")))


def _progress(writer: Any) -> tuple[int, int]:
    memory = writer._memory
    return int.from_bytes(memory[0:8], "little"), int.from_bytes(memory[8:16], "little")


def _loop() -> Any:
    return sys.modules["ciguard.execution.worker.loop"]
