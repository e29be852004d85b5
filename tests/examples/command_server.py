"""Commands of ciguard as processes that begin with its modules imported.

`answer` stands for `subprocess.run([sys.executable, "-m", "ciguard", ...])`. To import the modules
takes two seconds of each command; here a process that has imported them is forked instead. The
command is still a process of its own, with folder, environment and streams of its own.

As a script, this is the server: it takes requests on the socket that it inherits.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from surroundings import programs_without

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Answer = subprocess.CompletedProcess[str]

_PREPARED = (
    "ciguard.actions", "ciguard.baseline", "ciguard.campaign", "ciguard.cli.commands",
    "ciguard.planning", "ciguard.reports", "ciguard.suggesting", "ciguard.trackers",
    "ciguard.triage",
)  # fmt: skip
_REQUEST_BYTES = 1 << 20


def answer(
    *words: str | os.PathLike[str],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    timeout_s: float = 300,
) -> Answer:
    """Run `ciguard` with some words to its end.

    Args:
        words: after the program's name.
        folder: that it is started in.
        variables: its whole environment; None means that of this process.
        timeout_s: after which it is killed.

    Raises:
        subprocess.TimeoutExpired: if it was killed.
    """
    arguments = [os.fspath(word) for word in words]
    there = dict(os.environ if variables is None else variables)
    if any(name.startswith("PYTHON") for name in there):  # read as an interpreter starts
        return subprocess.run(
            [sys.executable, "-m", "ciguard", *arguments],
            cwd=folder,
            env=there,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout_s,
            check=False,
        )
    request = {"words": arguments, "folder": str(folder), "variables": there}
    is_late = threading.Event()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        read, write = os.pipe()
        socket.send_fds(
            _server(), [json.dumps(request).encode()], [out.fileno(), err.fileno(), write]
        )
        os.close(write)
        with open(read, encoding="ascii") as status:  # noqa: PTH123 - a descriptor
            pid = int(status.readline())

            def kill() -> None:
                is_late.set()
                os.kill(pid, signal.SIGKILL)

            timer = threading.Timer(timeout_s, kill)
            timer.start()
            code = int(status.readline())
            timer.cancel()
        written = []
        for stream in (out, err):
            stream.seek(0)
            written.append(stream.read().decode("utf-8"))
    if is_late.is_set():
        raise subprocess.TimeoutExpired(arguments, timeout_s, *written)
    return subprocess.CompletedProcess(["ciguard", *arguments], code, *written)


def environment(**variables: str) -> dict[str, str]:
    """Return variables of a command whose target `current` is the environment of these tests.

    It finds no debugger: traces of crashes take seconds each.
    """
    path = str(programs_without("gdb"))
    return {**os.environ, "PATH": path, "VIRTUAL_ENV": sys.prefix, **variables}


@cache
def _server() -> socket.socket:
    """Start the server on first use; it ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        server = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        server.wait()

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> None:
    """Answer requests until the other side is closed, each in a child of a child."""
    for module in _PREPARED:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who report
    while True:
        data, fds, _, _ = socket.recv_fds(requests, _REQUEST_BYTES, 3)
        if not data:
            return
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _report(json.loads(data), *fds)
        for descriptor in fds:
            os.close(descriptor)


def _report(request: dict[str, object], out: int, err: int, status: int) -> NoReturn:
    """Start the command and write its process number and its exit code, or minus its signal."""
    pid = os.fork()
    if pid == 0:
        os.close(status)
        _become_command(request, out, err)
    os.write(status, f"{pid}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(status, f"{code}\n".encode())
    os._exit(0)


def _become_command(request: dict[str, object], out: int, err: int) -> NoReturn:
    words, folder, variables = request["words"], request["folder"], request["variables"]
    assert isinstance(words, list)
    assert isinstance(folder, str)
    assert isinstance(variables, dict)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = ["ciguard", *words]
    sys.path[0] = folder
    raise SystemExit(_main())


def _main() -> int:
    main = importlib.import_module("ciguard.cli").main
    code: int = main()
    return code


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
