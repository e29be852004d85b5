"""Outcomes: the results of one case on one target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.memory_errors import MEMORY_ERRORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json


UNKNOWN_FUNCTION = "?"
"""Name of a function that a tool did not report."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack trace, without its line number."""

    file: str
    """Path relative to the root of its package."""
    function: str
    source: str = ""
    """Source text of the line, for frames of the user's functions; else empty."""


class Stage(StrEnum):
    """Stage in which a case raised an exception."""

    BUILD = "build"
    """An argument could not be built, for example because the library lacks its dtype. The API was
    not called."""
    CALL = "call"
    """The API itself raised the exception."""
    MODE = "mode"
    """The target's mode cannot express the call. The API was not called."""


class Resource(StrEnum):
    """Resource whose limit a case reached."""

    MEMORY = "memory"
    OUTPUT = "output"
    """Number of bytes written to standard streams and files."""
    THREADS = "threads"
    """Number of concurrent threads and processes."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The call returned."""

    encoded: bytes
    """Outputs as encoded by the worker, see `outputs.decode`. Equal outputs have equal bytes."""
    cost_s: float
    """Duration of the call, in seconds."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The API raised an exception meant for users, such as an argument check."""

    exception: str
    """Class name, e.g. `ValueError`, `InvalidArgumentError`."""
    message: str
    stage: Stage = Stage.CALL


@dataclass(frozen=True, slots=True)
class Errored:
    """The API raised an internal error instead of an exception meant for users.

    Examples are a failed assertion, a C++ exception, or a bug in the library's Python code.
    """

    exception: str
    message: str
    stack: tuple[Frame, ...] = ()
    """Frames inside the library, innermost first."""


_DEVICE_PREFIX = "CUDA "


BROKEN_PROTOCOL = "broke the worker's protocol"
CORRUPTED_WORKER = "left a worker that gets known outcomes wrong"
CLOSED_DESCRIPTORS = "closed the worker's descriptors"
CRASHED_AFTERWARDS = "left a worker that crashed afterwards"
_CAUSES_IN_WORKERS = frozenset(
    {BROKEN_PROTOCOL, CORRUPTED_WORKER, CLOSED_DESCRIPTORS, CRASHED_AFTERWARDS}
)
"""Causes that concern the worker itself, so that a process without a worker does not end."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process crashed."""

    cause: str
    """A signal such as `SIGSEGV`, an exit status such as `exit 3`, a device error such as
    `CUDA illegal memory access`, or one of `MEMORY_ERRORS`."""
    stack: tuple[Frame, ...] = ()
    """Python frames of the crashing call, innermost first."""
    log: str = ""
    """Last output of the case on its standard streams, such as a failed check."""

    @classmethod
    def from_device_error(cls, cause: str, stack: tuple[Frame, ...], log: str) -> Crashed:
        """Return the outcome of a case whose error `cause` made the device unusable."""
        return cls(f"{_DEVICE_PREFIX}{cause}", stack, log)

    @property
    def needs_worker(self) -> bool:
        """True if the process ended because of what the call did to its worker."""
        return self.cause in _CAUSES_IN_WORKERS

    @property
    def is_memory_error(self) -> bool:
        """True if the memory guard reported an invalid access, described in `log`."""
        return self.cause in MEMORY_ERRORS

    @property
    def is_device_error(self) -> bool:
        """True if an error on the device, not on the CPU, ended the process."""
        return self.cause.startswith(_DEVICE_PREFIX)


@dataclass(frozen=True, slots=True)
class Hung:
    """The call did not return before its timeout and was killed."""

    limit_s: float
    """Timeout of the call, in seconds."""
    stack: tuple[Frame, ...] = ()
    """Python frames at the timeout, innermost first."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The call reached a resource limit."""

    resource: Resource
    message: str = ""
    was_killed: bool = False
    """True if the process was killed; False if the library raised an exception."""


Outcome: TypeAlias = Passed | Rejected | Errored | Crashed | Hung | Exhausted


def status(outcome: Outcome) -> str:
    """Return the outcome's status: passed, rejected, errored, crashed, hung or exhausted."""
    return type(outcome).__name__.lower()


def has_completed(outcome: Outcome) -> bool:
    """Return whether the API was called and either returned or rejected its arguments.

    Only these outcomes can show that a defect is fixed. A call whose arguments could not be built,
    or that reached a resource limit, is inconclusive.
    """
    return isinstance(outcome, Passed) or (
        isinstance(outcome, Rejected) and outcome.stage is Stage.CALL
    )


def has_failed_build(outcome: Outcome) -> bool:
    """Return whether the arguments of a call could not be built."""
    return isinstance(outcome, Rejected) and outcome.stage is Stage.BUILD


def outcome_to_json(outcome: Outcome) -> Json:
    """Return the JSON form of an outcome, for `findings.jsonl` and the baseline."""
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
        case Exhausted(resource, message, was_killed):
            encoded |= {"resource": resource.value, "message": message, "died": was_killed}
    return encoded


def outcome_from_json(encoded: Json) -> Outcome:
    """Rebuild an outcome from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of an outcome.
    """
    try:
        return _DECODERS[encoded["status"]](encoded)
    except (KeyError, TypeError, IndexError) as error:
        msg = f"malformed outcome: {error}"
        raise ValueError(msg) from error


def stack_to_json(stack: tuple[Frame, ...]) -> Json:
    """Return the JSON form of a stack."""
    return [
        [frame.file, frame.function, *([frame.source] if frame.source else [])] for frame in stack
    ]


def stack_from_json(encoded: Json) -> tuple[Frame, ...]:
    """Rebuild a stack from its JSON form."""
    return tuple(Frame(str(frame[0]), str(frame[1]), *map(str, frame[2:3])) for frame in encoded)


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
