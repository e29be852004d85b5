"""Execution of other programs such as git, without interaction."""

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
    """Result of a program."""

    code: int
    """Exit code, negative for a signal."""
    output: bytes
    """Content of standard output."""
    errors: bytes
    """Content of standard error."""

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.output.decode("utf-8", "replace")

    @property
    def complaint(self) -> str:
        """Standard error as text."""
        return self.errors.decode("utf-8", "replace")


def run_program(
    argv: Sequence[str],
    *,
    limit_s: float,
    given: bytes = b"",
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> CompletedProgram:
    """Run a program; a timeout or an interruption kills its process group.

    Args:
        argv: program and arguments.
        limit_s: timeout in seconds.
        given: content of standard input.
        folder: working folder; None for that of this process.
        environment: complete environment; None for that of this process.

    Raises:
        OSError: if the program cannot be started.
        TimeoutError: if it exceeds the timeout.
    """
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # no terminal for prompts, and one process group to kill
    )
    try:
        output, errors = process.communicate(given, timeout=limit_s)
    except BaseException as error:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        msg = f"{argv[0]} exceeded its timeout of {limit_s:g} s"
        raise TimeoutError(msg) from error
    return CompletedProgram(code=process.returncode, output=output, errors=errors)
