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
_KNOWN = frozenset({ExitCode.USAGE, ExitCode.INTERNAL, ExitCode.INTERRUPTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailure:
    """The failure that ended a step."""

    exit_code: ExitCode
    reason: str
    """Reason in one line; untrusted text."""


def keep_failure(request: Path, exit_code: int, reason: str) -> None:
    """Store the failure of a step, unless one is stored: later failures follow from the first.

    Args:
        request: the request file that `prepare` wrote, which all steps of one call share.
        exit_code: the exit code of the step's command.
        reason: its last error message; empty if it printed none.
    """
    path = _path(request)
    if reason and not path.exists():
        kept = {"exit_code": exit_code, "reason": visible(reason, limit=_MAX_REASON)}
        replace_file(path, json.dumps(kept) + "\n")


def kept_failure(request: Path) -> StepFailure | None:
    """Return the first failure of this call's steps; None if there is none."""
    path = _path(request)
    if not path.is_file():
        return None
    kept = json.loads(read_text(path, most=_MAX_BYTES))
    code = kept["exit_code"]
    known = ExitCode(code) if code in _KNOWN else ExitCode.INTERNAL
    return StepFailure(exit_code=known, reason=str(kept["reason"]))


def _path(request: Path) -> Path:
    return request.with_suffix(".failure.json")
