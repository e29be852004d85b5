"""Why a step of the action failed, kept for the step that reports: it has another process."""

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
    """What ended a step."""

    exit_code: ExitCode
    reason: str
    """One line, which may quote anything."""


def keep_failure(request: Path, exit_code: int, reason: str) -> None:
    """Keep why a step failed; the first failure is the cause of those that follow.

    Args:
        request: what `prepare` wrote, which all steps of one call share.
        exit_code: of the step's command.
        reason: its last error; empty if it printed none.
    """
    path = _path(request)
    if reason and not path.exists():
        kept = {"exit_code": exit_code, "reason": visible(reason, limit=_MAX_REASON)}
        replace_file(path, json.dumps(kept) + "\n")


def kept_failure(request: Path) -> StepFailure | None:
    """Return the first failure of this call's steps, if one was kept."""
    path = _path(request)
    if not path.is_file():
        return None
    kept = json.loads(read_text(path, most=_MAX_BYTES))
    code = kept["exit_code"]
    known = ExitCode(code) if code in _KNOWN else ExitCode.INTERNAL
    return StepFailure(exit_code=known, reason=str(kept["reason"]))


def _path(request: Path) -> Path:
    return request.with_suffix(".failure.json")
