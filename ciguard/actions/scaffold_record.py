"""The record of what `ciguard init` wrote: the common ancestor for the merge of an upgrade.

Neither git's history nor old templates can replace it: checkouts are shallow, the first commit may
contain edits, and a newer release has no old templates.
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
class Offer:
    """A merge with conflicts that the user has to resolve."""

    yours: str
    """Text of the file at the time of the merge."""
    new: str
    """New text from the templates at the time of the merge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldRecord:
    """The record of what init wrote."""

    ci: str = "github"
    """Name of the CI system of the files."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Written texts, by path below the root."""
    offered: Mapping[str, Offer] = field(default_factory=dict)
    """Merges with conflicts, by path below the root."""


def read_record(root: Path) -> ScaffoldRecord | None:
    """Return the record of a repository; None if there is none.

    Raises:
        ConfigurationError: if it is damaged, or written by a newer version of ciguard.
    """
    path = root / RECORD
    if not path.is_file():
        return None
    try:
        return _record(json.loads(read_text(path, most=_MAX_BYTES)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = (
            f"{RECORD}: cannot be read: {visible(str(error))}. Restore it from git, or delete it "
            "and use --force, which replaces the files."
        )
        raise ConfigurationError(msg) from error


def write_record(root: Path, record: ScaffoldRecord) -> None:
    """Write the record for the next upgrade.

    Raises:
        OutputError: if it cannot be written.
    """
    described = {
        "about": "What `ciguard init` wrote: --upgrade merges your changes with what is new.",
        "schema": _SCHEMA,
        "ci": record.ci,
        "written": {path: _lines(text) for path, text in sorted(record.written.items())},
        "offered": {
            path: {"yours": _lines(offer.yours), "new": _lines(offer.new)}
            for path, offer in sorted(record.offered.items())
        },
    }
    try:
        replace_file(root / RECORD, json.dumps(described, indent=1) + "\n")
    except OSError as error:
        msg = f"{root / RECORD}: cannot be written: {error.strerror}. Make the folder writable."
        raise OutputError(msg) from error


def _record(described: Any) -> ScaffoldRecord:
    if described["schema"] != _SCHEMA:
        msg = f"schema {described['schema']!r}, but this version of ciguard reads schema {_SCHEMA}"
        raise ValueError(msg)
    return ScaffoldRecord(
        ci=str(described["ci"]),
        written={path: _text(lines) for path, lines in described["written"].items()},
        offered={
            path: Offer(yours=_text(offer["yours"]), new=_text(offer["new"]))
            for path, offer in described["offered"].items()
        },
    )


def _lines(text: str) -> list[str]:
    """Return the lines of a text, so that its JSON can be reviewed in a diff."""
    return text.split("\n")


def _text(lines: list[str]) -> str:
    return "\n".join(lines)
