"""Confinement of a host's process: the files and the port that it may access."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.execution.worker.quota import MAX_BYTES, MAX_FILES, usage

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.values import Json

_OUTPUT_MIB = 64
"""Maximum size of one file that the process writes, and of each of its streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAccess:
    """Files that a confined process may access, besides the system's and its own folder."""

    readable: tuple[Path, ...]
    """Folders and files that the process may read: those of its interpreter and program."""
    listable: tuple[Path, ...] = ()
    """Folders that the process may list but not read, with their subfolders, for imports."""


class Confinement:
    """Settings of one confined process, and the port that it may connect to."""

    def __init__(self, held: FileAccess, *, home: Path) -> None:
        """Prepare the confinement; `home` is the only writable folder, `HOME` and `TMPDIR`."""
        self._held = held
        self.home = home
        # The confined process cannot open a listening socket. It may connect to this port only, so
        # that its clients are served by the process itself.
        self.listener = socket.create_server(("127.0.0.1", 0))

    def settings(self, *, readable: Path, writable: Path) -> Json:
        """Return the settings for the bootstrap, see `execution.worker.confine.restrict_files`.

        Args:
            readable: a further file that the process may read.
            writable: a further file that the process may write.
        """
        return {
            "confine": True,
            "readable": [*map(str, self._held.readable), str(readable)],
            "listable": [*map(str, self._held.listable)],
            "writable": [str(self.home), str(writable)],
            "ports": [self.listener.getsockname()[1]],
            "processes": False,
            "device": "cpu",  # a GPU's driver would need more rights
            "output_mib": _OUTPUT_MIB,
        }

    def variables(self) -> dict[str, str]:
        """Return the environment variables that name the process's folder."""
        return {"HOME": str(self.home), "TMPDIR": str(self.home)}

    def exceeded(self) -> str:
        """Return which limit on written files was exceeded, as a phrase; empty if none was."""
        with contextlib.suppress(OSError):
            files, size = usage(str(self.home))
            if files > MAX_FILES:
                return f"writes more than {MAX_FILES:,} files"
            if size > MAX_BYTES:
                return f"writes more than {MAX_BYTES >> 20} MiB"
        return ""
