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

import struct

DONE, FULL, STARTED = b"D", b"F", b"S"
GO_ON = b"A"
HEADER = struct.Struct("<IQ")
MESSAGE = struct.Struct("<cQI")
