"""Result of a child that describes a seed model: a record, or the reason of its failure."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ciguard.execution.decode import WorkerExit

MAX_BYTES = 16 << 20
"""Maximum size of a description, in bytes; the largest of the shipped seeds takes 80 kB."""


def failure(child_exit: WorkerExit, *, log: str, stack: str, limit_s: float) -> str:
    """Return the reason why a child failed; empty if it succeeded."""
    if child_exit.status == 0:
        return ""
    if child_exit.killed_for:
        return f"not described within {limit_s:g} s"
    if os.WIFEXITED(child_exit.status):
        return log.strip()
    return f"its process crashed with signal {os.WTERMSIG(child_exit.status)}. {stack.strip()}"


def read_record(answer: bytes) -> dict[str, Any]:
    """Return the description that a child wrote, or an object with the key `error`."""
    if len(answer) > MAX_BYTES:
        return {"error": f"its description is larger than {MAX_BYTES >> 20} MiB"}
    try:
        record = json.loads(answer)
    except (ValueError, RecursionError) as error:
        return {"error": f"its description cannot be read: {error}"}
    return record if isinstance(record, dict) else {"error": "its description is not an object"}
