"""Measurements of the time and memory of a call: requests to a worker, and its answers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import StrEnum

_MAX_COUNTED = 2**53
"""Exclusive upper bound of counts, above which floating-point numbers are not exact."""


class Quantity(StrEnum):
    """Measured property of a call."""

    TIME = "time"
    """CPU time per call, in ns; wall time on a device."""
    PEAK = "peak"
    """Peak memory of one call, in bytes."""
    GROWTH = "growth"
    """Private memory of the process at each checkpoint, in bytes."""
    INSTRUCTIONS = "instructions"
    """Executed instructions per call, counted by callgrind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Measured values of one case on one target, which replace its outputs."""

    quantity: Quantity
    """Property that was measured."""
    values: tuple[float, ...]
    """Value of each repetition, round or checkpoint, in the unit of the quantity."""
    calls: int = 1
    """Number of calls in each repetition, or between two checkpoints."""
    tests: int = 1
    """Number of hypotheses that are tested together, for the correction of multiple tests."""

    def encoded(self) -> bytes:
        """Return the JSON text that `decode_measured` reads."""
        record = {
            "measured": self.quantity.value,
            "calls": self.calls,
            "tests": self.tests,
            "values": self.values,
        }
        return json.dumps(record, separators=(",", ":")).encode("ascii")


def decode_measured(encoded: bytes) -> Measurement | None:
    """Return the measured values of a worker; None if the text holds outputs or is malformed.

    Text of outputs never begins with a brace.
    """
    if not encoded.startswith(b"{"):
        return None
    try:
        record = json.loads(encoded)
        values = tuple(map(float, record["values"]))
        measured = Measurement(
            quantity=Quantity(record["measured"]),
            values=values,
            calls=int(record["calls"]),
            tests=int(record.get("tests", 1)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    has_valid_counts = all(0 < count < _MAX_COUNTED for count in (measured.calls, measured.tests))
    is_valid = values and all(map(math.isfinite, values)) and has_valid_counts
    return measured if is_valid else None


def time_request(case: bytes, *, calls: int, repetitions: int) -> bytes:
    """Return the request for the CPU time per call, for a job of a session."""
    return _request([Quantity.TIME.value, calls, repetitions], case)


def peak_request(case: bytes) -> bytes:
    """Return the request for the peak memory of one call, for a job of a session."""
    return _request([Quantity.PEAK.value], case)


def growth_request(case: bytes, *, calls: int, checkpoints: int) -> bytes:
    """Return the request for the process's memory at checkpoints, for a job of a session."""
    return _request([Quantity.GROWTH.value, calls, checkpoints], case)


def _request(plan: list[str | int], case: bytes) -> bytes:
    return b"[" + json.dumps(plan).encode("ascii") + b"," + case + b"]"
