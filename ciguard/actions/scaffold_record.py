"""What `ciguard init` once wrote, kept beside it: the base of every later upgrade.

Neither the history of git nor the templates of an older release would do: checkouts are shallow,
a first commit may hold edits already, and a newer release has no old templates.
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
"""Lies in the root of the repository and is committed with it."""
_SCHEMA = 1
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A merge with conflicts that a person was asked to resolve."""

    yours: str
    """The file as it was then."""
    new: str
    """What init would have written then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldRecord:
    """What init wrote, by path below the root."""

    ci: str = "github"
    """Name of the CI system that the files are for."""
    written: Mapping[str, str] = field(default_factory=dict)
    offered: Mapping[str, Offer] = field(default_factory=dict)


def read_record(root: Path) -> ScaffoldRecord | None:
    """Return the record of a repository; nothing if init has never left one.

    Raises:
        ConfigurationError: if it is damaged, or of a newer ciguard.
    """
    path = root / RECORD
    if not path.is_file():
        return None
    try:
        return _record(json.loads(read_text(path, most=_MAX_BYTES)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = (
            f"{RECORD}: cannot be read: {visible(str(error))}. Restore it from git, or delete it "
            "and give --force, which replaces the files."
        )
        raise ConfigurationError(msg) from error


def write_record(root: Path, record: ScaffoldRecord) -> None:
    """Keep a record for the next upgrade.

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
        msg = f"schema {described['schema']!r} is not {_SCHEMA}, the only one that this ciguard has"
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
    """Return a text such that a person can review it in a diff."""
    return text.split("\n")


def _text(lines: list[str]) -> str:
    return "\n".join(lines)
