"""The record of what `ciguard init` wrote: the common ancestor for the merge of an upgrade.

Neither git's history nor old templates can replace the record. Checkouts are shallow, the first
commit of a file may contain edits, and a newer release does not contain old templates.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError, OutputError
from ciguard.files import read_text, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RECORD = ".ciguard-init.json"
"""Name of the record in the root of the repository; it is committed."""
_SCHEMA = 1
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeConflict:
    """The inputs of a merge with conflicts that the user has to resolve."""

    yours: str
    """Text of the user's file at the time of the merge."""
    new: str
    """Text from the new template at the time of the merge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldRecord:
    """The record of what `ciguard init` wrote."""

    ci: str = "github"
    """Name of the CI system that the files are for."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Texts that `ciguard init` wrote, by path relative to the root of the repository."""
    conflicts: Mapping[str, MergeConflict] = field(default_factory=dict)
    """Merges with conflicts, by path relative to the root of the repository."""


def read_record(root: Path) -> ScaffoldRecord | None:
    """Return the record of a repository; None if there is none.

    Raises:
        ConfigurationError: if the record is damaged, or a newer version of ciguard wrote it.
    """
    path = root / RECORD
    if not path.is_file():
        return None
    try:
        return _record(json.loads(read_text(path, most=_MAX_BYTES)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = (
            f"{RECORD}: cannot be read: {visible(str(error))}. Restore it from git, or run "
            "`ciguard init --force`, which overwrites it and all other files."
        )
        raise ConfigurationError(msg) from error


def write_record(root: Path, record: ScaffoldRecord) -> None:
    """Write the record for the next upgrade.

    Raises:
        OutputError: if it cannot be written.
    """
    document = {
        "about": "What `ciguard init` wrote: --upgrade merges your changes with what is new.",
        "schema": _SCHEMA,
        "ci": record.ci,
        "written": {path: _lines(text) for path, text in sorted(record.written.items())},
        "offered": {
            path: {"yours": _lines(conflict.yours), "new": _lines(conflict.new)}
            for path, conflict in sorted(record.conflicts.items())
        },
    }
    try:
        replace_file(root / RECORD, json.dumps(document, indent=1) + "\n")
    except OSError as error:
        msg = f"{root / RECORD}: cannot be written: {error.strerror}. Make the folder writable."
        raise OutputError(msg) from error


def _record(document: Any) -> ScaffoldRecord:
    if document["schema"] != _SCHEMA:
        msg = f"schema {document['schema']!r}, but this version of ciguard reads schema {_SCHEMA}"
        raise ValueError(msg)
    return ScaffoldRecord(
        ci=str(document["ci"]),
        written={path: _text(lines) for path, lines in document["written"].items()},
        conflicts={
            path: MergeConflict(yours=_text(conflict["yours"]), new=_text(conflict["new"]))
            for path, conflict in document["offered"].items()
        },
    )


def _lines(text: str) -> list[str]:
    """Return the lines of a text, so that a diff of the JSON file shows changed lines."""
    return text.split("\n")


def _text(lines: list[str]) -> str:
    return "\n".join(lines)
