"""Outcomes: what happened to one case on one target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack: file relative to its package root, and function. No line."""

    file: str
    function: str


class Stage(StrEnum):
    """Which part of a case raised."""

    BUILD = "build"
    """An argument could not be built in this target (a dtype it lacks): says nothing of the API."""
    CALL = "call"
    """The API itself."""
    MODE = "mode"
    """The target's mode cannot express such a call: says nothing of the API."""


class Resource(StrEnum):
    """What a case used up."""

    MEMORY = "memory"
    OUTPUT = "output"
    """It wrote more to its standard streams or files than one case may."""
    THREADS = "threads"
    """It ran more threads and processes at a time than a worker may."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The call returned."""

    encoded: bytes
    """The outputs as written by the worker; see `outputs.decode`. Equal bytes, equal outputs."""
    cost_s: float


@dataclass(frozen=True, slots=True)
class Rejected:
    """A clean Python exception of the kind that users are meant to see."""

    exception: str
    """Class name, e.g. `ValueError`, `InvalidArgumentError`."""
    message: str
    stage: Stage = Stage.CALL


@dataclass(frozen=True, slots=True)
class Errored:
    """An internal error escaped: an assertion, a leaked C++ exception, a bug in library Python."""

    exception: str
    message: str
    stack: tuple[Frame, ...] = ()
    """Frames inside the library, innermost first."""


_ON_DEVICE = "CUDA "


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process died."""

    cause: str
    """`SIGSEGV`, `SIGABRT`, …, `exit 3` for a process that ended by itself, or what its device did
    not survive, such as `CUDA illegal memory access`."""
    stack: tuple[Frame, ...] = ()
    """Python frames of the dying call, innermost first."""
    log: str = ""
    """The end of what the case wrote to its standard streams: the failed check, if any."""

    @classmethod
    def of_device(cls, cause: str, stack: tuple[Frame, ...], log: str) -> Crashed:
        """Return the outcome of a case after which the device answers nothing any more."""
        return cls(f"{_ON_DEVICE}{cause}", stack, log)

    @property
    def is_of_device(self) -> bool:
        """Whether the process ended for its device."""
        return self.cause.startswith(_ON_DEVICE)


@dataclass(frozen=True, slots=True)
class Hung:
    """The call did not return in time and was ended."""

    limit_s: float
    stack: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The call met a resource limit."""

    resource: Resource
    message: str = ""
    died: bool = False
    """The process ended over it; otherwise the library said so by an exception."""


Outcome: TypeAlias = Passed | Rejected | Errored | Crashed | Hung | Exhausted


def status(outcome: Outcome) -> str:
    """Return the outcome's one-word status: passed, rejected, errored, crashed, hung, exhausted."""
    return type(outcome).__name__.lower()


def ended_well(outcome: Outcome) -> bool:
    """Return whether the call was made, and returned or was refused by the API itself.

    Only that shows that a defect is gone: a call that could not be made, or met a limit, tells
    nothing of it.
    """
    return isinstance(outcome, Passed) or (
        isinstance(outcome, Rejected) and outcome.stage is Stage.CALL
    )


def is_unbuilt(outcome: Outcome) -> bool:
    """Return whether the arguments of a call could not be made."""
    return isinstance(outcome, Rejected) and outcome.stage is Stage.BUILD


def outcome_to_json(outcome: Outcome) -> Json:
    """Return the JSON form used in `findings.jsonl` and in the baseline."""
    encoded: dict[str, Json] = {"status": status(outcome)}
    match outcome:
        case Passed(outputs, cost_s):
            encoded |= {"outputs": outputs.decode("utf-8", "replace"), "cost_s": cost_s}
        case Rejected(exception, message, stage):
            encoded |= {"exception": exception, "message": message, "stage": stage.value}
        case Errored(exception, message, stack):
            encoded |= {"exception": exception, "message": message, "stack": stack_to_json(stack)}
        case Crashed(cause, stack, log):
            encoded |= {"cause": cause, "stack": stack_to_json(stack), "log": log}
        case Hung(limit_s, stack):
            encoded |= {"limit_s": limit_s, "stack": stack_to_json(stack)}
        case Exhausted(resource, message, died):
            encoded |= {"resource": resource.value, "message": message, "died": died}
    return encoded


def outcome_from_json(encoded: Json) -> Outcome:
    """Rebuild an outcome from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of an outcome.
    """
    try:
        return _DECODERS[encoded["status"]](encoded)
    except (KeyError, TypeError, IndexError) as error:
        msg = f"not an encoded outcome: {error}"
        raise ValueError(msg) from error


def stack_to_json(stack: tuple[Frame, ...]) -> Json:
    """Return the JSON form of a stack."""
    return [[frame.file, frame.function] for frame in stack]


def stack_from_json(encoded: Json) -> tuple[Frame, ...]:
    """Rebuild a stack from its JSON form."""
    return tuple(Frame(str(frame[0]), str(frame[1])) for frame in encoded)


_DECODERS: dict[str, Callable[[Json], Outcome]] = {
    "passed": lambda e: Passed(str(e["outputs"]).encode(), float(e["cost_s"])),
    "rejected": lambda e: Rejected(str(e["exception"]), str(e["message"]), Stage(e["stage"])),
    "errored": lambda e: Errored(
        str(e["exception"]), str(e["message"]), stack_from_json(e["stack"])
    ),
    "crashed": lambda e: Crashed(str(e["cause"]), stack_from_json(e["stack"]), str(e["log"])),
    "hung": lambda e: Hung(float(e["limit_s"]), stack_from_json(e["stack"])),
    "exhausted": lambda e: Exhausted(Resource(e["resource"]), str(e["message"]), bool(e["died"])),
}
