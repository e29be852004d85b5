"""Verdicts on calls, read from the JSON responses of the process that makes the calls."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution import StackLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.values import Json
    from ciguard.execution import HostedDefectError


_MAX_FRAMES = 20
"""Maximum number of innermost frames that a traceback shows."""


class FailureKind(StrEnum):
    """Kind of a call's failure."""

    EXCEPTION = "exception"
    """The call raised an undocumented exception."""
    ENSURE = "ensure"
    """A postcondition does not hold."""
    NAN = "nan"
    """The result contains NaN, although all inputs are finite and of moderate size."""
    MUTATION = "mutation"
    """The call changed an argument."""
    TIMEOUT = "timeout"
    """The call exceeded its timeout."""
    CRASH = "crash"
    """The interpreter crashed with a signal."""
    EXIT = "exit"
    """The interpreter exited although the call raised no exception."""


EXPENSIVE_KINDS = frozenset((FailureKind.CRASH, FailureKind.EXIT, FailureKind.TIMEOUT))
"""Kinds of failures that cost a new process, or the whole timeout of a call."""


TIMEOUT_KEY = "timeout"
"""Key of all timeouts, because the place of the interruption is arbitrary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """A call that failed."""

    kind: FailureKind
    type: str
    """Name of the exception's class; for other failures a name such as that of the signal."""
    message: str
    frames: tuple[StackLine, ...]
    """Stack frames without those of ciguard, outermost first."""
    key: str
    """Type and innermost frame of the user's code; failures with one key count once."""


@dataclass(frozen=True, slots=True)
class CallPassed:
    """A call that passed."""

    mutated: tuple[str, ...] = ()
    """Names of the arguments that the call changed."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """A call whose arguments are invalid."""

    reason: str


@dataclass(frozen=True, slots=True)
class NoInstance:
    """A method call that was not made, because the constructor of its object failed."""

    reason: str


@dataclass(frozen=True, slots=True)
class Undecided:
    """A call without a verdict, because ciguard itself failed."""

    report: str
    """Text that says what failed."""


Verdict: TypeAlias = CallPassed | Discarded | NoInstance | CallFailure | Undecided


_MAX_DEFECT_LINES = 12
"""Number of last lines of a defect's traceback that a report shows."""


def defect_report(error: HostedDefectError) -> str:
    """Return the report of a defect of ciguard in a program's process."""
    lines = str(error).strip().splitlines()
    return "\n".join(
        [
            f"ciguard itself failed: {lines[-1] if lines else 'no reason is known'}",
            "This is a defect of ciguard, not of the program. Please report it with these lines:",
            *(f"  {line}" for line in lines[-_MAX_DEFECT_LINES:]),
        ]
    )


def traceback_text(frames: Sequence[StackLine]) -> str:
    """Return a traceback as Python prints it, outermost frame first; empty without frames."""
    lines = []
    for frame in frames[-_MAX_FRAMES:]:
        lines.append(f'  File "{frame.file}", line {frame.line}, in {frame.function}')
        source = linecache.getline(frame.file, frame.line).strip()
        if source:
            lines.append(f"    {source}")
    return "\n".join(["Traceback (most recent call last):", *lines]) if lines else ""


def frames_from_json(frames: Json) -> tuple[StackLine, ...]:
    """Return stack frames from a JSON list of `[file, line, function]`."""
    return tuple(StackLine(str(file), int(line), str(name)) for file, line, name in frames)


def verdict_from_json(response: Json) -> Verdict:
    """Return the verdict in a JSON response from `in_target/calling/caller.py`."""
    status = response["status"]
    if status == "passed":
        return CallPassed(tuple(response.get("mutated", ())))
    if status == "discarded":
        return Discarded(response["reason"])
    if status == "no-instance":
        return NoInstance(response["reason"])
    kind = FailureKind(response["kind"])
    return CallFailure(
        kind=kind,
        type=response["type"],
        message=response["message"],
        frames=frames_from_json(response["frames"]),
        key=TIMEOUT_KEY if kind is FailureKind.TIMEOUT else response["key"],
    )
