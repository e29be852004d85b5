"""What a fork server reports, decoded and checked: it has imported foreign code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ciguard.execution.decode import Death

_MAX_PID = 2**22
_MAX_NUMBER = 2**53


class ReportError(Exception):
    """A fork server sent what none of ours sends."""


@dataclass(frozen=True, slots=True)
class Forked:
    """A child lives."""

    ticket: int
    pid: int


@dataclass(frozen=True, slots=True)
class ChildDied:
    """A child is gone."""

    pid: int
    death: Death


@dataclass(frozen=True, slots=True)
class Start:
    """How the server's start ended."""

    failure: str
    """Why the library cannot be loaded; empty if it was."""
    version: str = ""
    confined_by: tuple[str, ...] = ()


def decode_start(data: bytes) -> Start:
    """Return what the first report says.

    Raises:
        ReportError: if it is none.
    """
    report = _decoded(data)
    if "failed" in report:
        details = "".join(_texts(report.get("log"))).strip()
        return Start(f"{_text(report['failed'])}\n{details}")
    ready = report.get("ready")
    if not isinstance(ready, dict):
        msg = f"unknown report {data[:80]!r}"
        raise ReportError(msg)
    return Start("", _text(ready.get("version")), tuple(_texts(ready.get("confined_by"))))


def decode_report(data: bytes) -> Forked | ChildDied:
    """Return what a later report says.

    Raises:
        ReportError: if it is none.
    """
    report = _decoded(data)
    if "forked" in report:
        return Forked(_number(report, "forked", _MAX_NUMBER), _number(report, "pid", _MAX_PID))
    status = _number(report, "status", 0xFFFF)
    peak_kib = _number(report, "peak_kib", _MAX_NUMBER)
    return ChildDied(_number(report, "died", _MAX_PID), Death(status, peak_kib))


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        report = json.loads(data)
    except (ValueError, RecursionError) as error:
        msg = f"not JSON: {data[:80]!r}"
        raise ReportError(msg) from error
    if not isinstance(report, dict):
        msg = f"unknown report {data[:80]!r}"
        raise ReportError(msg)
    return report


def _number(report: dict[str, Any], key: str, most: int) -> int:
    number = report.get(key)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
        msg = f"{key} is {number!r:.80}"
        raise ReportError(msg)
    return number


def _text(value: object) -> str:
    if not isinstance(value, str):
        msg = f"{value!r:.80} is no text"
        raise ReportError(msg)
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        msg = f"{value!r:.80} is no list"
        raise ReportError(msg)
    return [_text(item) for item in value]
