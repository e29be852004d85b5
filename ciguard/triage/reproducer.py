"""The reproducer: a standalone script for a finding. It needs only the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.files import read_text
from ciguard.triage.levels import presentable

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.findings import Bucket, Finding
    from ciguard.triage.hint import EnvironmentHint

_MAX_SCRIPT_BYTES = 1 << 20


def script(finding: Finding, *, environment_hint: EnvironmentHint) -> str:
    """Return a standalone script that shows the finding's defect.

    The script crashes, hangs or raises the internal error. For other defects, it exits with status
    1 and prints a line that starts with `DIFFERENT` (targets differ), `ACCEPTED` (an invalid
    argument is accepted) or `GROWS` (memory grows). It exits with status 0 if it does not show the
    defect. The script of a program is the program itself.

    Raises:
        ValueError: if a name in the case is not a Python name.
    """
    return presentable(finding.case).script(finding, environment_hint)


def read_script(folder: Path, bucket: Bucket) -> str:
    """Return the script that a run wrote for a bucket; empty if it cannot be read.

    Because run and bucket are untrusted, only a file in the run's folder is read.
    """
    path = folder / bucket.reproducer
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
        return read_text(path, most=_MAX_SCRIPT_BYTES) if bucket.reproducer and is_inside else ""
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a cycle of symbolic links
        return ""
