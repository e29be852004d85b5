"""Snapshots of commands: exit status and whole output, one readable file per test."""

from __future__ import annotations

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = "UPDATE_SNAPSHOTS"

_VARYING = (
    (re.compile(r"Python 3\.\d+\.\d+\S*, .*"), "Python <version>, <platform>"),
    (re.compile(r'"(started_at|finished_at)": "[^"]*"'), r'"\1": "<time>"'),
)


def assert_matches(name: str, shown: str, *, folder: Path) -> None:
    """Compare with the stored snapshot; write it anew when UPDATE_SNAPSHOTS is set.

    Args:
        name: of the snapshot.
        shown: exit status and output.
        folder: where the command ran; shown as `<folder>`.
    """
    plain = shown.replace(os.fspath(folder), "<folder>")
    for pattern, placeholder in _VARYING:
        plain = pattern.sub(placeholder, plain)
    path = FOLDER / f"{name}.txt"
    if os.environ.get(UPDATE):
        path.write_text(plain, encoding="utf-8")
    assert path.is_file(), f"no snapshot {path.name}; write it with {UPDATE}=1"
    assert plain == path.read_text(encoding="utf-8")
