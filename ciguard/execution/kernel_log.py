"""Xid messages of NVIDIA's driver in the kernel's log, where this process may read it.

A message names the faulting engine and address, which no error of CUDA does. Sources: NVIDIA, XID
Errors; Linux kernel, Documentation/ABI/testing/dev-kmsg.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from pathlib import Path

from ciguard.programs import run_program

KERNEL_MESSAGES = Path("/dev/kmsg")
"""Device file from which each process reads all messages, if the kernel permits it."""

_XID = re.compile(r"NVRM: Xid \([^()\n]{1,40}\): \d[^\n]*")
_PROCESS = re.compile(r"\bpid='?(\d{1,10})\b")
_OWNER = re.compile(r"\bpid=[^,\n]{1,40}, (?:name=[^,\n]{1,80}, )?")
"""Number and name of the process, which may be another user's: issues are public."""
_JOURNAL = ("--dmesg", "--no-pager", "--output=cat", "--quiet")
_JOURNAL_LIMIT_S = 5.0
_CHUNK = 8192
"""Size of a read in bytes; /dev/kmsg returns one message per read, and no message is longer."""
_MAX_READS = 20_000
MAX_LINES = 4
_MAX_LINE = 300


class KernelLog:
    """Reads the messages that the kernel has logged since the last look."""

    def __init__(self) -> None:
        """Begin at the end of the log. Without permission, the journal takes the log's place."""
        self._descriptor = -1
        self._journal_program: str | None = None
        self._since_s = time.time()
        try:
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
            self._descriptor = os.open(KERNEL_MESSAGES, flags)
            os.lseek(self._descriptor, 0, os.SEEK_END)
        except OSError:
            self._journal_program = shutil.which("journalctl")

    def xid_lines(self, process_id: int = 0) -> list[str]:
        """Return the Xid messages that are new since the last call, at most `MAX_LINES`.

        The names of processes are left out.

        Args:
            process_id: process whose messages are returned, if any names it. In a container, the
                kernel knows it by another number, so that all messages are returned then.
        """
        lines = _XID.findall(self._new_text())
        own = [line for line in lines if str(process_id) in _PROCESS.findall(line)]
        return [_OWNER.sub("", line)[:_MAX_LINE] for line in (own or lines)[:MAX_LINES]]

    def _new_text(self) -> str:
        if self._descriptor < 0:
            return self._journal()
        chunks: list[bytes] = []
        for _ in range(_MAX_READS):
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except BrokenPipeError:  # messages were overwritten before they were read
                continue
            except OSError:  # no further message
                break
            if not chunk:
                break
            chunks.append(chunk)
        return b"".join(chunks).decode("utf-8", "backslashreplace")

    def _journal(self) -> str:
        if self._journal_program is None:
            return ""
        since_s, self._since_s = self._since_s, time.time()
        argv = [self._journal_program, *_JOURNAL, f"--since=@{since_s:.0f}"]
        with contextlib.suppress(OSError):  # a timeout, too
            result = run_program(argv, limit_s=_JOURNAL_LIMIT_S)
            if result.code == 0:
                return result.text
        self._journal_program = None  # it would fail again
        return ""

    def close(self) -> None:
        """Close the log."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
