"""Protocol of the connection between a worker and its parent. Records are passed in the cell.

    parent    HEADER(length, token) + JSON list of cases    a batch with a random token
    worker    MESSAGE(STARTED, 0, 0)                        the worker is ready for a batch
    worker    MESSAGE(FULL, token, count)                   the cell is full after `count` records
    parent    GO_ON                                         the cell was read
    worker    MESSAGE(DONE, token, count)                   the batch ended with `count` records

The token prevents code under test from answering a batch in advance. The worker is untrusted, so
the parent validates every message, see `ciguard.execution.channel`.
"""

from __future__ import annotations

import json
import os
import struct
from typing import NoReturn

DONE, FULL, STARTED = b"D", b"F", b"S"
GO_ON = b"A"
HEADER = struct.Struct("<IQ")
MESSAGE = struct.Struct("<cQI")

DEVICE_LOST = "ciguard: the device is lost: "
"""Prefix of the last line in the log of a worker whose device is lost.

The cause follows, and then the error as a JSON list of its class, message and frames."""
ASSERTION = "device-side assertion"
"""Cause of a lost device: a kernel rejected its arguments, most often an index out of range."""
_MAX_MESSAGE = 600
_MAX_FRAMES = 8
_MAX_LINE = 1500
"""Maximum length of the line, as only the beginning and the end of a long log are read."""


def end_without_device(
    cause: str, name: str, message: str, frames: list[tuple[str, str]]
) -> NoReturn:
    """Abort this process, whose device is lost, during the running case.

    It aborts with a signal, so that the parent treats it like any other crash.

    Args:
        cause: cause of the loss, e.g. `illegal memory access`.
        name: class of the error that the library raised.
        message: message of the error.
        frames: file and function of each frame, innermost first.
    """
    kept = frames[:_MAX_FRAMES]
    while len(error := json.dumps([name, message[:_MAX_MESSAGE], kept])) > _MAX_LINE and kept:
        kept = kept[:-1]
    os.write(2, f"\n{DEVICE_LOST}{cause}: {error}\n".encode("ascii"))
    os.abort()
