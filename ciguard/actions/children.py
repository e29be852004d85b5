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

_OUR_ERROR = "ciguard: error: "
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_OPENS_COMMAND = re.compile(r"^(\s*):(?=:)")


def run_command(
    words: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    fenced: bool = True,
    on_failure: Callable[[int, str], None] | None = None,
) -> int:
    """Run `ciguard WORDS` to its end and return its exit code; 128 plus the number for a signal.

    Args:
        words: the command and its options.
        folder: the working folder of the process.
        environment: the environment of the process.
        fenced: whether to stop workflow commands in its output; False if the command does so
            itself.
        on_failure: a function that is called with the exit code and the last error message.
    """
    # -I: the working folder holds code of the pull request, which must not be imported.
    argv = [sys.executable, "-I", "-m", "ciguard", *words]
    with ExitStack() as stack:
        if fenced:
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
        ended = _ended(child)
        pump.join()
    # subprocess reports a signal as a negative number, which must not compare as less than 0.
    code = ended if ended >= 0 else 128 - ended
    if errors and code:
        _print(annotation("error", errors[-1]))
        if on_failure is not None:
            on_failure(code, errors[-1])
    return code


def _ended(child: subprocess.Popen[str]) -> int:
    """Wait for a command and return its exit status.

    This polls, since Python runs signal handlers in the main thread only: a signal that another
    thread receives would otherwise be handled only after the command has ended.
    """
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=1.0)


def inert(line: str) -> str:
    """Return a line of a log without workflow commands, so that the runner executes none."""
    return _OPENS_COMMAND.sub(r"\1: ", line).replace("##[", "## [")


def _copy_errors(stream: IO[str], errors: list[str]) -> None:
    for line in stream:
        if line.startswith(_OUR_ERROR):
            errors[:] = [line.removeprefix(_OUR_ERROR).strip()]
        sys.stderr.write(inert(line))
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
    # Flush at once: the child writes to the same stream past our buffer.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def _forwarded_signals(child: subprocess.Popen[str]) -> Iterator[None]:
    """Forward the first signal to the child, which then writes its reports.

    A runner that cancels sends SIGINT, SIGTERM 7.5 s later and SIGKILL 2.5 s after that. On a
    second signal, the child would stop without writing its reports.
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
