"""Measurements: how a worker is asked for time and memory of a call, and what it answers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import StrEnum

_MAX_COUNTED = 2**53
"""Counts beyond it are no counts: floating-point numbers do not hold them."""


class Quantity(StrEnum):
    """What of a call is measured."""

    TIME = "time"
    """CPU time per call in ns; on a device, wall time."""
    PEAK = "peak"
    """Bytes that one call takes at its worst."""
    GROWTH = "growth"
    """Private bytes of the process, after every so many calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of one case on one target; travels in place of a call's outputs."""

    quantity: Quantity
    values: tuple[float, ...]
    """One per repetition, round or checkpoint."""
    calls: int = 1
    """Calls in each repetition, or between two checkpoints."""
    tests: int = 1
    """How many hypotheses are tested together with the one that these values decide."""

    def encoded(self) -> bytes:
        """Return the JSON text that `decode_measured` reads."""
        record = {
            "measured": self.quantity.value,
            "calls": self.calls,
            "tests": self.tests,
            "values": self.values,
        }
        return json.dumps(record, separators=(",", ":")).encode("ascii")


def decode_measured(encoded: bytes) -> Measured | None:
    """Return what a worker has measured; None if this are outputs, or no healthy worker wrote it.

    The text of outputs never begins with a brace.
    """
    if not encoded.startswith(b"{"):
        return None
    try:
        record = json.loads(encoded)
        values = tuple(map(float, record["values"]))
        measured = Measured(
            quantity=Quantity(record["measured"]),
            values=values,
            calls=int(record["calls"]),
            tests=int(record.get("tests", 1)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    is_counted = all(0 < count < _MAX_COUNTED for count in (measured.calls, measured.tests))
    is_sound = values and all(map(math.isfinite, values)) and is_counted
    return measured if is_sound else None


def time_request(case: bytes, *, calls: int, repetitions: int) -> bytes:
    """Ask for the CPU time per call, for a job of a session."""
    return _request([Quantity.TIME.value, calls, repetitions], case)


def peak_request(case: bytes) -> bytes:
    """Ask for the memory that one call takes, for a job of a session."""
    return _request([Quantity.PEAK.value], case)


def growth_request(case: bytes, *, calls: int, checkpoints: int) -> bytes:
    """Ask for the memory of the process at checkpoints, for a job of a session."""
    return _request([Quantity.GROWTH.value, calls, checkpoints], case)


def _request(plan: list[str | int], case: bytes) -> bytes:
    return b"[" + json.dumps(plan).encode("ascii") + b"," + case + b"]"
