"""Reports of a fork server, decoded and validated, as the server has imported untrusted code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ciguard.execution.decode import WorkerExit

_MAX_PID = 2**22
_MAX_NUMBER = 2**53


class ReportError(Exception):
    """A fork server sent an invalid report."""


@dataclass(frozen=True, slots=True)
class Forked:
    """Report that a child was started."""

    ticket: int
    """Ticket of the request."""
    pid: int
    """Process id of the child."""


@dataclass(frozen=True, slots=True)
class ChildExited:
    """Report that a child exited."""

    pid: int
    """Process id of the child."""
    exit: WorkerExit
    """Exit status and memory of the child."""


@dataclass(frozen=True, slots=True)
class Start:
    """Result of the server's start."""

    failure: str
    """Reason why the library cannot be loaded; empty if it was loaded."""
    version: str = ""
    """Version of the library."""
    confined_by: tuple[str, ...] = ()
    """Names of the mechanisms that confine the process."""


def decode_start(data: bytes) -> Start:
    """Decode the first report of a server.

    Raises:
        ReportError: if it is invalid.
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


def decode_report(data: bytes) -> Forked | ChildExited:
    """Decode any later report of a server.

    Raises:
        ReportError: if it is invalid.
    """
    report = _decoded(data)
    if "forked" in report:
        return Forked(_number(report, "forked", _MAX_NUMBER), _number(report, "pid", _MAX_PID))
    status = _number(report, "status", 0xFFFF)
    peak_kib = _number(report, "peak_kib", _MAX_NUMBER)
    return ChildExited(_number(report, "died", _MAX_PID), WorkerExit(status, peak_kib))


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


def _number(report: dict[str, Any], key: str, maximum: int) -> int:
    number = report.get(key)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= maximum:
        msg = f"{key} = {number!r:.80} is not a number from 0 to {maximum}"
        raise ReportError(msg)
    return number


def _text(value: object) -> str:
    if not isinstance(value, str):
        msg = f"{value!r:.80} is not a string"
        raise ReportError(msg)
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        msg = f"{value!r:.80} is not a list"
        raise ReportError(msg)
    return [_text(item) for item in value]
