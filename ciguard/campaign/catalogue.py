"""The catalogue of a target's public API: described once per environment, then kept beside it."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from ciguard.domain import RECORD_SCHEMA, ApiRecord, record_from_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ciguard.domain import Json
    from ciguard.execution import Dispatcher
    from ciguard.targets import Environment


def catalogue(name: str, environment: Environment, dispatcher: Dispatcher) -> dict[str, ApiRecord]:
    """Return the records of a target's public API, by name.

    Raises:
        WorkerStartError: if the library cannot be described.
    """
    kept = _kept_file(environment)
    if kept is not None and kept.is_file():
        lines: Iterable[Json] = map(json.loads, kept.read_text("utf-8").splitlines())
        return _by_name(lines)
    described = list(dispatcher.describe(name))
    if kept is not None:
        _write(kept, described)
    return _by_name(described)


def _by_name(lines: Iterable[Json]) -> dict[str, ApiRecord]:
    records = map(record_from_json, lines)
    return {record.api: record for record in records}


def _kept_file(environment: Environment) -> Path | None:
    """Return where the catalogue is kept; None for an environment that may change under us."""
    if environment.target.is_current:
        return None
    adapters = sorted(environment.library.adapter.parent.glob("*.py"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in adapters)).hexdigest()[:12]
    return environment.root / f"catalogue-{RECORD_SCHEMA}-{environment.library.name}-{digest}.jsonl"


def _write(path: Path, described: list[Json]) -> None:
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text("".join(json.dumps(record) + "\n" for record in described), "utf-8")
    part.replace(path)  # two runs that describe at once write the same
