"""What the process of a host may reach, and how it is confined to that."""

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
"""Size of one file that it writes, and of each of its streams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The files of a confined process, beside those of the system and a folder of its own."""

    readable: tuple[Path, ...]
    """Folders and files that it may read: its interpreter's, and the program's."""
    listable: tuple[Path, ...] = ()
    """Folders that it may only list, with those in them; what is imported is looked for there."""


class Holding:
    """Settings of one confined process, and the port that it may connect to."""

    def __init__(self, held: Held, *, home: Path) -> None:
        """Prepare them; `home` is the folder that it may write, and all of `HOME` and `TMPDIR`."""
        self._held = held
        self.home = home
        # The process could make no socket that listens: it may connect to this port, and to no
        # other, so that clients in it fetch what they are to fetch from itself.
        self.listener = socket.create_server(("127.0.0.1", 0))

    def settings(self, *, readable: Path, writable: Path) -> Json:
        """Return what the bootstrap is given; see `ciguard.execution.worker.confine.hold`.

        Args:
            readable: one more file that it may read.
            writable: one more file that it may write.
        """
        return {
            "confine": True,
            "readable": [*map(str, self._held.readable), str(readable)],
            "listable": [*map(str, self._held.listable)],
            "writable": [str(self.home), str(writable)],
            "ports": [self.listener.getsockname()[1]],
            "processes": False,
            "device": "cpu",  # it asks services: a GPU's driver would need rights that it has not
            "output_mib": _OUTPUT_MIB,
        }

    def variables(self) -> dict[str, str]:
        """Return the part of its environment that names its folder."""
        return {"HOME": str(self.home), "TMPDIR": str(self.home)}

    def exceeded(self) -> str:
        """Return what it has written too much of, in words; empty if it has not."""
        with contextlib.suppress(OSError):
            files, size = usage(str(self.home))
            if files > MAX_FILES:
                return f"writes more than {MAX_FILES:,} files"
            if size > MAX_BYTES:
                return f"writes more than {MAX_BYTES >> 20} MiB"
        return ""
