"""What is said of one call: a union of small types, read from what the process answered."""

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


class FailureKind(StrEnum):
    """What went wrong."""

    EXCEPTION = "exception"
    """One that callers need not expect."""
    ENSURE = "ensure"
    """A postcondition does not hold."""
    NAN = "nan"
    """NaN came out of finite, small inputs."""
    MUTATION = "mutation"
    """An argument was changed."""
    TIMEOUT = "timeout"
    """It took longer than it may."""
    CRASH = "crash"
    """A signal ended the interpreter."""
    EXIT = "exit"
    """The interpreter ended without an exception."""


PROCESS_ENDING = frozenset((FailureKind.CRASH, FailureKind.EXIT, FailureKind.TIMEOUT))
"""Kinds that cost a process, or all the time that a call may take."""


TIMEOUT_KEY = "timeout"
"""Of all that takes too long: where it is interrupted is chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailure:
    """A call that went wrong."""

    kind: FailureKind
    type: str
    """Class of the exception, or what stands for it, such as the name of a signal."""
    message: str
    frames: tuple[StackLine, ...]
    """Of the user's code, outermost first; the last is where it happened."""
    key: str
    """The path that led there: class and innermost frame. Failures of one key count as one."""


@dataclass(frozen=True, slots=True)
class CallPassed:
    """Nothing went wrong."""

    mutated: tuple[str, ...] = ()
    """Arguments that the call has changed."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """The arguments are none that the function accepts."""

    why: str


@dataclass(frozen=True, slots=True)
class NoInstance:
    """There was no object to call the method of: its constructor failed."""

    why: str


Verdict: TypeAlias = CallPassed | Discarded | NoInstance | CallFailure


def traceback_text(frames: Sequence[StackLine]) -> str:
    """Return frames as Python shows them, outermost first; empty for none."""
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
    """Read what `in_target/calling/caller.py` said of a call."""
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
