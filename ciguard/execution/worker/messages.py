"""What a worker and its parent send each other over their connection. Results travel in the cell.

    parent    HEADER(length, token) + JSON list of cases    a batch; its token is random
    worker    MESSAGE(STARTED, 0, 0)                        I can take a batch
    worker    MESSAGE(FULL, token, count)                   the cell is full after `count` records
    parent    GO_ON                                         the cell was read
    worker    MESSAGE(DONE, token, count)                   the batch ended with `count` records

The token keeps code under test from answering a batch that has not been sent yet. The worker is
untrusted: the parent checks every message, see `ciguard.execution.channel`.
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
"""Begins the last line that a worker writes to its log before it ends; then come the cause and, as
JSON, the class of the error, its message and the frames that it was raised in."""
ASSERTION = "device-side assertion"
"""Of the causes, the one by which a kernel refuses its arguments: most often an index too large."""
_MAX_MESSAGE = 600
_MAX_FRAMES = 8
_MAX_LINE = 1500
"""Of a long log only the beginning and the end are read: the line must fit there."""


def end_without_device(
    cause: str, name: str, message: str, frames: list[tuple[str, str]]
) -> NoReturn:
    """End this process, whose device answers nothing any more, in the case that was running.

    By a signal, as any other case that takes its process with it.

    Args:
        cause: what the device did not survive, e.g. `illegal memory access`.
        name: class of the error that the library raised.
        message: its text.
        frames: file and function of its frames, innermost first.
    """
    kept = frames[:_MAX_FRAMES]
    while len(error := json.dumps([name, message[:_MAX_MESSAGE], kept])) > _MAX_LINE and kept:
        kept = kept[:-1]
    os.write(2, f"\n{DEVICE_LOST}{cause}: {error}\n".encode("ascii"))
    os.abort()
