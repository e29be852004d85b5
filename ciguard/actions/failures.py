"""The failure of a step of the action, stored for the step `report`, a process of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ExitCode
from ciguard.files import read_text, replace_file

if TYPE_CHECKING:
    from pathlib import Path

_MAX_REASON = 2_000
_MAX_BYTES = 64 * 1024
_FAILURE_CODES = frozenset({ExitCode.USAGE, ExitCode.INTERNAL, ExitCode.INTERRUPTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailure:
    """The failure that ended a step."""

    exit_code: ExitCode
    reason: str
    """Error message in one line; untrusted text."""


def store_failure(request_file: Path, exit_code: int, reason: str) -> None:
    """Store the failure of a step, unless an earlier step failed, which is the cause.

    Args:
        request_file: the file that the step `prepare` wrote, which all steps of one call share.
        exit_code: the exit code of the step's command.
        reason: the command's last error message. Without a message, nothing is stored.
    """
    path = _failure_file(request_file)
    if reason and not path.exists():
        failure = {"exit_code": exit_code, "reason": visible(reason, limit=_MAX_REASON)}
        replace_file(path, json.dumps(failure) + "\n")


def stored_failure(request_file: Path) -> StepFailure | None:
    """Return the first failure of this call's steps; None if no step failed."""
    path = _failure_file(request_file)
    if not path.is_file():
        return None
    failure = json.loads(read_text(path, most=_MAX_BYTES))
    code = failure["exit_code"]
    exit_code = ExitCode(code) if code in _FAILURE_CODES else ExitCode.INTERNAL
    return StepFailure(exit_code=exit_code, reason=str(failure["reason"]))


def _failure_file(request_file: Path) -> Path:
    return request_file.with_suffix(".failure.json")
