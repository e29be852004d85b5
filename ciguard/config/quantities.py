"""Parsing and formatting of durations and sizes."""

from __future__ import annotations

import math
import re

_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|[dhms]))+")
_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|[dhms])")

_MIB = {"kib": 1 / 1024, "mib": 1.0, "gib": 1024.0, "tib": 1024.0 * 1024.0}
_UNITS = _MIB | {unit[0]: factor for unit, factor in _MIB.items()}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)")


def parse_duration(text: str) -> float:
    """Return a duration in seconds.

    Args:
        text: the duration, such as `90s`, `3m`, `1h30m`, `1.5h`, `250ms` or a number of seconds.

    Raises:
        ValueError: if `text` has another form, or a unit occurs twice.
    """
    duration = text.strip().lower().replace(" ", "")
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", duration):
        return float(duration)
    if not _DURATION.fullmatch(duration):
        msg = "not a duration"
        raise ValueError(msg)
    parts = _DURATION_PART.findall(duration)
    units = [unit for _, unit in parts]
    if len(set(units)) != len(units):
        msg = "a unit occurs twice"
        raise ValueError(msg)
    return math.fsum(float(number) * _SECONDS[unit] for number, unit in parts)


def duration_text(seconds: float) -> str:
    """Return a duration as text for `parse_duration`, in the largest exact units."""
    milliseconds = round(seconds * 1000)
    words = []
    for unit in ("d", "h", "m", "s", "ms"):
        amount, milliseconds = divmod(milliseconds, round(_SECONDS[unit] * 1000))
        if amount:
            words.append(f"{amount}{unit}")
    return "".join(words) or "0s"


def parse_size(text: str) -> int:
    """Return a size in MiB.

    Args:
        text: the size, such as `4096` (in MiB), `4096MiB`, `4 GiB` or `1.5G`; all units are powers
            of two.

    Raises:
        ValueError: if `text` has another form, or is not a whole number of MiB.
    """
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in {"", *_UNITS}:
        msg = "not a size"
        raise ValueError(msg)
    mebibytes = float(match[1]) * _UNITS.get(match[2], 1.0)
    if not mebibytes.is_integer():
        msg = "not a whole number of MiB"
        raise ValueError(msg)
    return int(mebibytes)


def size_text(mebibytes: int) -> str:
    """Return a size in MiB as text for `parse_size`."""
    gibibytes, rest = divmod(mebibytes, 1024)
    return f"{gibibytes} GiB" if gibibytes and not rest else f"{mebibytes} MiB"
