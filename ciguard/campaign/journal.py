"""The journal: what a run has done, appended durably, so that a killed run can be resumed.

One JSON object per line, in `<out>/journal.jsonl`:

    {"type": "start", "schema": 1, "parameters": {…}}
    {"type": "progress", "elapsed_s": 1.0, "streams": {name: {…}}, "targets": {name: {…}},
     "counts": {"v1:…": 3}, "lessons": {name: "packed"}}
    {"type": "candidate", "key": "v1:…", "finding": {…}}
    {"type": "bucket", "key": "v1:…", "bucket": {…}}

    {"type": "proven", "elapsed_s": 1.0}
    {"type": "resume"}

A progress line with `"waits": true` counts once a later line proves the results that it rests on:
`proven` for the lines up to its time, a progress line without it for all. A run that goes on from
the journal begins with `resume`: what waits until then is run again, and never counts.

What a progress line says belongs together, so it is one line: it is there whole or not at all.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from ciguard.campaign.lessons import Lesson, packed, unpacked
from ciguard.domain.findings import (
    Bucket,
    Finding,
    Tally,
    bucket_from_json,
    bucket_to_json,
    finding_from_json,
    finding_to_json,
)
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

JOURNAL = "journal.jsonl"
JOURNAL_SCHEMA = 1


@dataclass(slots=True)
class Past:
    """What an earlier part of the same campaign has left."""

    parameters: dict[str, Any] = field(default_factory=dict)
    elapsed_s: float = 0.0
    streams: dict[str, dict[str, Any]] = field(default_factory=dict)
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    candidates: dict[str, Finding] = field(default_factory=dict)
    """Findings that were proposed and not settled, by provisional fingerprint."""
    buckets: list[tuple[str, Bucket]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    lessons: dict[str, list[Lesson]] = field(default_factory=dict)
    """What the batches of each stream have taught, in the order of their index."""
    waiting: list[dict[str, Any]] = field(default_factory=list)
    """Progress that rests on results which no line has proven yet."""


class Journal:
    """Appends to the journal of one run."""

    def __init__(self, folder: Path) -> None:
        """Open the journal for appending; a line that a killed run left unfinished is ended.

        Raises:
            OutputError: if it cannot be written.
        """
        self._path = folder / JOURNAL
        try:
            folder.mkdir(parents=True, exist_ok=True)
            is_torn = _ends_torn(self._path)
            self._file = self._path.open("ab", buffering=0)
        except OSError as error:
            raise self._unwritable(error) from error
        if is_torn:
            self._write(b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(
            f"{self._path}: cannot be written: {error.strerror}. Free some space or choose another "
            "folder with --out, then go on with `ciguard run --resume`."
        )

    def start(self, parameters: Mapping[str, Any]) -> None:
        """Note what the run is."""
        self._append({"type": "start", "schema": JOURNAL_SCHEMA, "parameters": parameters})

    def resume(self) -> None:
        """Note that another part of the run begins: it does again what was not proven."""
        self._append({"type": "resume"})

    def proven(self, elapsed_s: float) -> None:
        """Note that the progress until then rests on proven results."""
        self._append({"type": "proven", "elapsed_s": elapsed_s})

    def progress(  # noqa: PLR0913 - a line is there whole or not at all, and holds all of this
        self,
        elapsed_s: float,
        *,
        streams: Mapping[str, Any],
        targets: Mapping[str, Any],
        counts: Mapping[str, int],
        lessons: Mapping[str, Sequence[Lesson]] | None = None,
        waits: bool = False,
    ) -> None:
        """Note how far the run is.

        Args:
            elapsed_s: how much of the budget is spent.
            streams: state of each, as of the batches that were judged.
            targets: tally of each, and APIs exercised since the last line.
            counts: how many findings of those batches fell into each bucket.
            lessons: what the batches of each stream have taught since the last line.
            waits: whether any of that rests on results which are not proven.
        """
        line = {"type": "progress", "elapsed_s": elapsed_s, "streams": streams}
        if waits:
            line["waits"] = True
        taught = {name: packed(new) for name, new in (lessons or {}).items() if new}
        self._append({**line, "targets": targets, "counts": counts, "lessons": taught})

    def candidate(self, key: str, finding: Finding) -> None:
        """Note a finding before it is confirmed."""
        self._append({"type": "candidate", "key": key, "finding": finding_to_json(finding)})

    def bucket(self, key: str, bucket: Bucket) -> None:
        """Note what came of a candidate; survives also a power failure."""
        self._append({"type": "bucket", "key": key, "bucket": bucket_to_json(bucket)}, sync=True)

    def _append(self, line: Mapping[str, Any], *, sync: bool = False) -> None:
        self._write(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")
        if sync:
            try:
                os.fsync(self._file.fileno())
            except OSError as error:
                raise self._unwritable(error) from error

    def _write(self, line: bytes) -> None:
        # Without a buffer: a line is written or reported, and none is left for a later attempt.
        unwritten = memoryview(line)
        try:
            while unwritten:
                unwritten = unwritten[self._file.write(unwritten) :]
        except OSError as error:
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Close the file; what could not be written was reported when it was appended."""
        self._file.close()


def _ends_torn(path: Path) -> bool:
    """Return whether the last line has no end."""
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def set_aside(folder: Path) -> None:
    """Keep an earlier run's journal under another name, so that the new run starts its own.

    Raises:
        OutputError: if the folder cannot be written.
    """
    path = folder / JOURNAL
    try:
        if path.exists() and path.stat().st_size:
            path.replace(folder / f"previous-{JOURNAL}")
    except OSError as error:
        msg = f"{path}: cannot be moved: {error.strerror}. Choose another folder with --out."
        raise OutputError(msg) from error


def read_journal(folder: Path) -> Past:
    """Return what the journal in `folder` holds; lines that a killed run left torn are skipped.

    A run that was killed before its first line has left an empty journal: no parameters.

    Raises:
        OutputError: if there is none, its first line is missing, or it was written by another
            version of ciguard.
    """
    path = folder / JOURNAL
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        msg = f"{path}: nothing to resume ({error.strerror}). Start a run without --resume."
        raise OutputError(msg) from error
    past = Past()
    entries = list(filter(None, map(_parse, lines)))
    for entry in entries:
        _recall(past, entry, path)
    if entries and not past.parameters:
        msg = f"{path}: holds no started run. Start a run without --resume."
        raise OutputError(msg)
    return past


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _recall(past: Past, entry: dict[str, Any], path: Path) -> None:
    try:
        match entry["type"]:
            case "start":
                _check_schema(entry["schema"], path)
                past.parameters = dict(entry["parameters"])
            case "progress":
                past.elapsed_s = float(entry["elapsed_s"])
                past.waiting.append(entry)
                if not entry.get("waits"):
                    _rely(past, until_s=past.elapsed_s)
            case "proven":
                _rely(past, until_s=float(entry["elapsed_s"]))
            case "resume":
                past.waiting.clear()
            case "candidate":
                past.candidates[str(entry["key"])] = finding_from_json(entry["finding"])
            case "bucket":
                past.candidates.pop(str(entry["key"]), None)
                past.buckets.append((str(entry["key"]), bucket_from_json(entry["bucket"])))
            case _:
                pass  # a later minor version may note more
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        msg = f"{path}: not a journal of ciguard ({error!r:.200}). Start a run without --resume."
        raise OutputError(msg) from error


def _rely(past: Past, *, until_s: float) -> None:
    """Take up the progress that is proven now."""
    for entry in [e for e in past.waiting if float(e["elapsed_s"]) <= until_s]:
        past.waiting.remove(entry)
        past.streams = {str(n): _stream(state) for n, state in entry["streams"].items()}
        _recall_targets(past, entry["targets"])
        past.counts = {str(key): _natural(n) for key, n in entry["counts"].items()}
        for name, text in entry.get("lessons", {}).items():
            past.lessons.setdefault(name, []).extend(unpacked(text))


def _stream(state: Mapping[str, Any]) -> dict[str, Any]:
    deaths = {
        str(api): [(int(index), int(cost)) for index, cost in seen]
        for api, seen in state["deaths"].items()
    }
    return {"done": _natural(state["done"]), "cases": _natural(state["cases"]), "deaths": deaths}


def _natural(number: Any) -> int:
    if not isinstance(number, int) or number < 0:
        msg = f"{number!r:.40} is no count"
        raise ValueError(msg)
    return number


def _recall_targets(past: Past, targets: dict[str, dict[str, Any]]) -> None:
    """Take the latest tally of every target, and all APIs that any line names."""
    for name, seen in targets.items():
        before = past.targets.get(name, {"exercised": []})
        exercised = [*before["exercised"], *map(str, seen["exercised"])]
        tally = {status: _natural(seen["tally"][status]) for status in Tally().as_dict()}
        past.targets[name] = {"tally": tally, "exercised": exercised}


def _check_schema(schema: object, path: Path) -> None:
    if schema != JOURNAL_SCHEMA:
        msg = (
            f"{path}: schema {schema}, this ciguard reads {JOURNAL_SCHEMA}. "
            "Resume with the version that started the run, or start anew."
        )
        raise OutputError(msg)
