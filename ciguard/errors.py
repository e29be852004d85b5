"""Errors that the user or the machine can cause, each with the exit code of the command.

Failures of the library under test are not exceptions but `Outcome`s. Any other exception is a
defect of ciguard, for which the command exits with `ExitCode.INTERNAL`.
"""

from __future__ import annotations

import difflib
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class ExitCode(IntEnum):
    """Exit code of the `ciguard` command, on which workflows rely."""

    CLEAN = 0
    """Nothing new, or this run established the baseline."""
    FINDINGS = 1
    """New findings at or above the failing severity."""
    USAGE = 2
    """Wrong usage, configuration or environment: the message says what to change."""
    INTERNAL = 3
    """A defect of ciguard itself, which must not count as a pass."""
    INTERRUPTED = 130
    """Stopped by SIGINT or SIGTERM; the output folder has the results so far."""


class CiguardError(Exception):
    """Base of all errors whose message is for the user."""

    exit_code: ClassVar[ExitCode] = ExitCode.USAGE
    """Exit code of the command after this error."""


class ConfigurationError(CiguardError):
    """A setting is unknown, of the wrong type or out of range."""


class PlatformError(CiguardError):
    """The operating system cannot confine workers, or libraries have no builds for it."""


class TargetSyntaxError(CiguardError):
    """The text of a target is malformed."""


class UnknownLibraryError(CiguardError):
    """A target names no library that ciguard has an adapter for."""


class ProvisioningError(CiguardError):
    """A target's environment cannot be built."""


class WorkerStartError(CiguardError):
    """A target's library cannot be imported, or its device is missing."""


class BaselineError(CiguardError):
    """A baseline cannot be read or written. The stored file is unchanged."""


class ConstraintsFileError(CiguardError):
    """A file of constraints is damaged or of a newer schema."""


class SeedModelError(CiguardError):
    """A seed model cannot be built, loaded, or written as a graph of layers."""


class DisassemblyError(CiguardError):
    """A seed program cannot be split into a template and blocks."""


class OutputError(CiguardError):
    """The output folder cannot be written, or holds files that would be lost."""


class TrackerError(CiguardError):
    """The tracker rejects requests until token, repository or settings are corrected."""


class TrackerForbiddenError(TrackerError):
    """The token lacks a permission; another request may be permitted."""


class TrackerIssueError(TrackerError):
    """One issue cannot be written: it is locked, transferred or too long. Others can."""


class TrackerGoneError(TrackerIssueError):
    """An issue no longer exists: deleted, transferred, or converted to a discussion."""

    def __init__(self, message: str, *, successor_of: int = 0) -> None:
        super().__init__(message)
        self.successor_of = successor_of
        """Number of the old issue that a new issue may refer to; 0 if it was deleted."""


class TrackerUnavailableError(TrackerError):
    """The tracker did not respond in time, or requires a longer wait than a run may take."""


class ClusterError(CiguardError):
    """The cluster cannot be reached or used, or lost a shard."""


class EncoderError(CiguardError):
    """A text encoder lacks its package or its model."""


class PlanError(CiguardError):
    """The plan cannot be made, because of the history, a file or a limit."""


class RegistrationError(CiguardError):
    """Two plug-ins have one name, or a plug-in does not implement its interface."""


class UnknownNameError(CiguardError):
    """A name from the user is unknown."""

    def __init__(self, kind: str, name: str, *, known: Iterable[str], where: str = "") -> None:
        super().__init__(f"{where}{kind} {name!r}: no such {kind}.{suggestion(name, known)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'? Known: …` for an unknown `name`."""
    names = sorted(known)
    matches = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {matches[0]!r}?" if matches else ""
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")  # noqa: PLR2004 - about one line
    return f"{hint} Known: {shown}."
