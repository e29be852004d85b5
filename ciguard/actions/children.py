"""Run one of ciguard's commands in a process of its own, inside a step of a workflow."""

from __future__ import annotations

import re
import secrets
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from threading import Thread
from typing import IO, TYPE_CHECKING

from ciguard.actions.commands import annotation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

_ERROR_PREFIX = "ciguard: error: "
"""Start of a line by which a command reports an error."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_OPENS_COMMAND = re.compile(r"^(\s*):(?=:)")


def run_command(
    words: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    stops_commands: bool = True,
    on_failure: Callable[[int, str], None] | None = None,
) -> int:
    """Run `ciguard WORDS` to its end and return its exit code; 128 plus the number for a signal.

    Args:
        words: the command and its options.
        folder: the working folder of the process.
        environment: the environment variables of the process.
        stops_commands: whether the runner must ignore workflow commands in the output; False if
            `ciguard WORDS` escapes them itself.
        on_failure: a function that is called with the exit code and the last error message.
    """
    # -I: the working folder holds code of the pull request, which must not be imported.
    argv = [sys.executable, "-I", "-m", "ciguard", *words]
    with ExitStack() as stack:
        if stops_commands:
            stack.enter_context(_stopped_commands())
        child = stack.enter_context(
            subprocess.Popen(
                argv,
                cwd=folder,
                env=dict(environment),
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="backslashreplace",
            )
        )
        stack.enter_context(_forwarded_signals(child))
        errors: list[str] = []
        pump = Thread(target=_copy_errors, args=(child.stderr, errors))
        pump.start()
        status = _wait(child)
        pump.join()
    # subprocess reports a signal as a negative number, which would be the lowest exit code.
    code = status if status >= 0 else 128 - status
    if errors and code:
        _print(annotation("error", errors[-1]))
        if on_failure is not None:
            on_failure(code, errors[-1])
    return code


def _wait(child: subprocess.Popen[str]) -> int:
    """Wait for a command and return its exit status.

    The function polls, since Python runs signal handlers in the main thread only. Without polling,
    a signal that another thread receives would be handled only after the command has ended.
    """
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=1.0)


def without_commands(line: str) -> str:
    """Return a line of a log with workflow commands escaped, so that the runner ignores them."""
    return _OPENS_COMMAND.sub(r"\1: ", line).replace("##[", "## [")


def _copy_errors(stream: IO[str], errors: list[str]) -> None:
    for line in stream:
        if line.startswith(_ERROR_PREFIX):
            errors[:] = [line.removeprefix(_ERROR_PREFIX).strip()]
        sys.stderr.write(without_commands(line))
    sys.stderr.flush()


@contextmanager
def _stopped_commands() -> Iterator[None]:
    token = secrets.token_hex(16)
    _print(f"::stop-commands::{token}")
    try:
        yield
    finally:
        _print(f"::{token}::")


def _print(line: str) -> None:
    # Flush at once, because the child writes to the same stream without our buffer.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def _forwarded_signals(child: subprocess.Popen[str]) -> Iterator[None]:
    """Forward the first signal to the child, which then writes its reports.

    A runner that cancels a step sends SIGINT, SIGTERM 7.5 s later and SIGKILL after another 2.5 s.
    On a second signal, the child would exit without writing its reports.
    """
    forwarded: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        del frame
        if not forwarded:
            forwarded.append(number)
            child.send_signal(number)

    previous = {number: signal.signal(number, receive) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
