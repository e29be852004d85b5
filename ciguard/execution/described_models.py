"""What comes back from a child that describes a seed model: a record, or the reason why not."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ciguard.execution.decode import Death

MAX_BYTES = 16 << 20
"""Of a description; the largest of the shipped seeds takes 80 kB."""


def failure(death: Death, *, log: str, stack: str, limit_s: float) -> str:
    """Return why a child did not do what it was asked for; empty if it did."""
    if death.status == 0:
        return ""
    if death.killed_for:
        return f"not described within {limit_s:g} s"
    if os.WIFEXITED(death.status):
        return log.strip()
    return f"its process died of signal {os.WTERMSIG(death.status)}. {stack.strip()}"


def read_record(answer: bytes) -> dict[str, Any]:
    """Read the one line that a child wrote of a model; code of a user may have written others."""
    if len(answer) > MAX_BYTES:
        return {"error": f"its description is larger than {MAX_BYTES >> 20} MiB"}
    try:
        record = json.loads(answer)
    except (ValueError, RecursionError) as error:
        return {"error": f"its description cannot be read: {error}"}
    return record if isinstance(record, dict) else {"error": "its description is no object"}
