"""The reproducer: one finding as a script that needs the library and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.files import read_text
from ciguard.triage.levels import presentable

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.findings import Bucket, Finding
    from ciguard.triage.hint import EnvironmentHint

_MAX_SCRIPT = 1 << 20


def script(finding: Finding, *, environment_hint: EnvironmentHint) -> str:
    """Return a standalone script that fails as the finding did.

    A crash ends the interpreter the same way, an internal error is the uncaught exception, a hang
    does not return. A difference between targets exits with 1 and a line that begins with
    `DIFFERENT`; where it does not show the script exits with 0. An argument that should be refused
    and is not exits with 1 and a line that begins with `ACCEPTED`, what grows with `GROWS`. The
    script of a program is the program as it stands.

    Raises:
        ValueError: if a name in the case is not a Python name.
    """
    return presentable(finding.case).script(finding, environment_hint)


def read_script(folder: Path, bucket: Bucket) -> str:
    """Return the script that a run has written for a bucket; empty if it cannot be read.

    Run and bucket may be anybody's: nothing outside of the run's folder is read.
    """
    path = folder / bucket.reproducer
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
        return read_text(path, most=_MAX_SCRIPT) if bucket.reproducer and is_inside else ""
    except (OSError, ValueError, RuntimeError):  # the last: links that lead in a circle
        return ""
