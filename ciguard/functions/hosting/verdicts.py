"""Verdicts on calls: a union of small types, read from the responses of the process."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution import StackLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.values import Json


_MAX_FRAMES = 20
"""Number of innermost frames that a traceback shows."""


class FailureKind(StrEnum):
    """Kind of a failure."""

    EXCEPTION = "exception"
    """The call raised an undocumented exception."""
    ENSURE = "ensure"
    """A postcondition does not hold."""
    NAN = "nan"
    """Finite inputs of moderate size gave NaN."""
    MUTATION = "mutation"
    """The call changed an argument."""
    TIMEOUT = "timeout"
    """The call exceeded its time limit."""
    CRASH = "crash"
    """The interpreter crashed with a signal."""
    EXIT = "exit"
    """The interpreter exited without an exception."""


EXPENSIVE_KINDS = frozenset((FailureKind.CRASH, FailureKind.EXIT, FailureKind.TIMEOUT))
"""Kinds that cost a process, or the whole time limit of a call."""


TIMEOUT_KEY = "timeout"
"""Key of all timeouts, since the place of the interruption is arbitrary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """A call that failed."""

    kind: FailureKind
    type: str
    """Class of the exception, or a name in its place, such as that of a signal."""
    message: str
    frames: tuple[StackLine, ...]
    """Frames without those of ciguard, outermost first."""
    key: str
    """Failure path: class and innermost frame of the user. Failures of one key count once."""


@dataclass(frozen=True, slots=True)
class CallPassed:
    """A call that passed."""

    mutated: tuple[str, ...] = ()
    """Arguments that the call changed."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """A call whose arguments are invalid."""

    why: str


@dataclass(frozen=True, slots=True)
class NoInstance:
    """A call without an object to call the method of, since its constructor failed."""

    why: str


Verdict: TypeAlias = CallPassed | Discarded | NoInstance | CallFailure


def traceback_text(frames: Sequence[StackLine]) -> str:
    """Return frames as Python prints them, outermost first; empty for none."""
    shown = frames[-_MAX_FRAMES:]
    lines = []
    for frame in shown:
        lines.append(f'  File "{frame.file}", line {frame.line}, in {frame.function}')
        source = linecache.getline(frame.file, frame.line).strip()
        if source:
            lines.append(f"    {source}")
    return "\n".join(["Traceback (most recent call last):", *lines]) if lines else ""


def frames_from_json(frames: Json) -> tuple[StackLine, ...]:
    """Return the frames of a JSON list of `[file, line, function]`."""
    return tuple(StackLine(str(file), int(line), str(name)) for file, line, name in frames)


def verdict_from_json(answer: Json) -> Verdict:
    """Return the verdict of a response from `in_target/calling/caller.py`."""
    status = answer["status"]
    if status == "passed":
        return CallPassed(tuple(answer.get("mutated", ())))
    if status == "discarded":
        return Discarded(answer["reason"])
    if status == "no-instance":
        return NoInstance(answer["reason"])
    kind = FailureKind(answer["kind"])
    return CallFailure(
        kind=kind,
        type=answer["type"],
        message=answer["message"],
        frames=frames_from_json(answer["frames"]),
        key=TIMEOUT_KEY if kind is FailureKind.TIMEOUT else answer["key"],
    )
