"""The errors that a user or a machine can cause, each with the exit code it ends the command with.

What the library under test does wrong is never an exception here: it is an `Outcome`. A defect of
ciguard itself is any other exception; the command line turns it into `ExitCode.INTERNAL`.
"""

from __future__ import annotations

import difflib
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class ExitCode(IntEnum):
    """What the `ciguard` command answers with; the contract with every workflow that calls it."""

    CLEAN = 0
    """Nothing new, or the baseline was established by this run."""
    FINDINGS = 1
    """New findings at or above the failing severity."""
    USAGE = 2
    """Wrong usage, configuration or environment: the message says what to change."""
    INTERNAL = 3
    """The guard itself failed. Never to be read as a pass."""
    INTERRUPTED = 130
    """Stopped by SIGINT or SIGTERM; what was found so far is in the output folder."""


class CiguardError(Exception):
    """Base of every error whose message is meant for the user."""

    exit_code: ClassVar[ExitCode] = ExitCode.USAGE


class ConfigurationError(CiguardError):
    """A setting is unknown, of the wrong type or out of range."""


class PlatformError(CiguardError):
    """The operating system cannot confine workers, or libraries have no builds for it."""


class TargetSyntaxError(CiguardError):
    """A target's text cannot be read."""


class UnknownLibraryError(CiguardError):
    """A target names no library that ciguard has an adapter for."""


class ProvisioningError(CiguardError):
    """A target's environment cannot be built."""


class WorkerStartError(CiguardError):
    """A target's interpreter starts, but its library cannot be imported or its device is absent."""


class BaselineError(CiguardError):
    """A baseline cannot be read or written. The stored file is left as it is."""


class ConstraintsFileError(CiguardError):
    """A file of constraints is damaged, or of a newer schema."""


class SeedModelError(CiguardError):
    """A seed model cannot be built, loaded, or written as a graph of layers."""


class DisassemblyError(CiguardError):
    """A seed program cannot be taken apart into a template and blocks."""


class OutputError(CiguardError):
    """The output folder cannot be written, or holds something that would be lost."""


class TrackerError(CiguardError):
    """The tracker refuses: the token, the repository or its settings must be put right first."""


class TrackerForbiddenError(TrackerError):
    """The token may not do that; another way may be open."""


class TrackerIssueError(TrackerError):
    """One issue cannot be written: locked, transferred, too long. Others can."""


class TrackerGoneError(TrackerIssueError):
    """An issue is not there any more: deleted, transferred, or converted to a discussion."""

    def __init__(self, message: str, *, successor_of: int = 0) -> None:
        super().__init__(message)
        self.successor_of = successor_of
        """Number of the issue that another one replaces; 0 if nothing is left to refer to."""


class TrackerUnavailableError(TrackerError):
    """The tracker did not answer in time, or asks to wait longer than a run may take."""


class ClusterError(CiguardError):
    """The cluster cannot be reached or used, or loses a shard."""


class EncoderError(CiguardError):
    """An encoder of texts lacks its package or its model."""


class PlanError(CiguardError):
    """What is to be tested cannot be planned: history, a file or a limit stands against it."""


class RegistrationError(CiguardError):
    """A plug-in is named twice or does not fulfil its contract."""


class UnknownNameError(CiguardError):
    """A name that the user gave is not among the known ones."""

    def __init__(self, kind: str, name: str, *, known: Iterable[str], where: str = "") -> None:
        super().__init__(f"{where}{kind} {name!r}: no such {kind}.{suggestion(name, known)}")


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'? Known: …` for an unknown `name`."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")  # noqa: PLR2004 - one line's worth
    return f"{hint} Known: {listed}."
