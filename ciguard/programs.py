"""Programs of the machine, such as git, run to their end: short work that nobody watches."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedProgram:
    """How a program ended."""

    code: int
    """Its exit code, negative for a signal."""
    output: bytes
    errors: bytes

    @property
    def text(self) -> str:
        """What it printed to standard output."""
        return self.output.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """What it printed to standard error."""
        return self.errors.decode("utf-8", "replace")


def run_program(
    argv: Sequence[str],
    *,
    limit_s: float,
    given: bytes = b"",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> CompletedProgram:
    """Run a program; whatever ends the wait early, Ctrl-C included, ends its whole group.

    Args:
        argv: program and arguments.
        limit_s: time until it must have ended.
        given: its standard input.
        folder: working folder; None for that of this process.
        environment: all of its environment; None for that of this process.

    Raises:
        OSError: if it cannot be started.
        TimeoutError: if it does not end in time.
    """
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # no terminal to ask at, and one group to end
    )
    try:
        output, errors = process.communicate(given, timeout=limit_s)
    except BaseException as error:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        msg = f"{argv[0]} took more than {limit_s:g} s"
        raise TimeoutError(msg) from error
    return CompletedProgram(code=process.returncode, output=output, errors=errors)
