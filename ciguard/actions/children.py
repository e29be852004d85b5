"""One of ciguard's own commands in a process of its own, as a step of a workflow runs it."""

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
    """Run `ciguard WORDS` to its end and return its exit code; 128 and more for a signal.

    What it prints is executed by no runner. `fenced=False` is for commands whose console fences
    itself, because a few of its lines are commands of ours. `on_failure` is called with the code
    and the last error that was printed.
    """
    # -I: the working folder belongs to whoever wrote the pull request, and is no place for modules.
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
        stack.enter_context(_passing_on_signals(child))
        errors: list[str] = []
        pump = Thread(target=_pump, args=(child.stderr, errors))
        pump.start()
        ended = _ended(child)
        pump.join()
    # A signal is a negative number here, which no comparison must take for less than success.
    code = ended if ended >= 0 else 128 - ended
    if errors and code:
        _say(annotation("error", errors[-1]))
        if on_failure is not None:
            on_failure(code, errors[-1])
    return code


def _ended(child: subprocess.Popen[str]) -> int:
    """Wait for a command and return how it ended.

    By looking now and then: a signal may be delivered to the thread that copies its errors, and is
    handled only when this one, which would sleep until the command ends, runs again.
    """
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=1.0)


def inert(line: str) -> str:
    """Return a line of a log such that the runner takes it for text."""
    return _OPENS_COMMAND.sub(r"\1: ", line).replace("##[", "## [")


def _pump(stream: IO[str], errors: list[str]) -> None:
    for line in stream:
        if line.startswith(_OUR_ERROR):
            errors[:] = [line.removeprefix(_OUR_ERROR).strip()]
        sys.stderr.write(inert(line))
    sys.stderr.flush()


@contextmanager
def _stopped_commands() -> Iterator[None]:
    token = secrets.token_hex(16)
    _say(f"::stop-commands::{token}")
    try:
        yield
    finally:
        _say(f"::{token}::")


def _say(line: str) -> None:
    # At once: the child writes to the same stream past our buffer.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def _passing_on_signals(child: subprocess.Popen[str]) -> Iterator[None]:
    """Hand the first signal to the child, which then writes its reports.

    A runner that cancels sends SIGINT, SIGTERM 7.5 s later and SIGKILL 2.5 s after that. The child
    would take a second signal for impatience and leave its reports unwritten.
    """
    passed: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        del frame
        if not passed:
            passed.append(number)
            child.send_signal(number)

    previous = {number: signal.signal(number, receive) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
