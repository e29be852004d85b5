"""The journal: durable records of a run's progress, so that a killed run can be resumed.

It is the file `<out>/journal.jsonl`, with one JSON object per line:

    {"type": "start", "schema": 2, "parameters": {…}}
    {"type": "progress", "elapsed_s": 1.0, "streams": {name: {…}}, "targets": {name: {…}},
     "counts": {"v1:…": 3}, "lessons": {name: "packed"}}
    {"type": "candidate", "key": "v1:…", "finding": {…}}
    {"type": "bucket", "key": "v1:…", "bucket": {…}}

    {"type": "proven", "elapsed_s": 1.0}
    {"type": "resume"}

A progress line with `"waits": true` is valid only once a later line proves its results: a `proven`
line proves all lines up to its time, and a progress line without `waits` proves all lines. A
resumed run writes `resume`; lines that are unproven then are ignored, and their cases run again.

Each progress line is complete in itself, so that a torn line loses no consistency.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from ciguard.campaign.batches import Feedback, pack, unpack
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
JOURNAL_SCHEMA = 2


@dataclass(slots=True)
class ResumeState:
    """State of an interrupted run, read from its journal."""

    parameters: dict[str, Any] = field(default_factory=dict)
    """Settings of the run."""
    elapsed_s: float = 0.0
    """Budget that is spent, in seconds."""
    streams: dict[str, dict[str, Any]] = field(default_factory=dict)
    """State of each stream, see `Stream.state`."""
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Tally and exercised APIs of each target."""
    candidates: dict[str, Finding] = field(default_factory=dict)
    """Proposed findings without a result, by provisional fingerprint."""
    buckets: list[tuple[str, Bucket]] = field(default_factory=list)
    """Buckets, each with its provisional fingerprint."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of findings by fingerprint."""
    feedback: dict[str, list[Feedback]] = field(default_factory=dict)
    """Feedback of each stream, in the order of the batches' index."""
    waiting: list[dict[str, Any]] = field(default_factory=list)
    """Progress lines that are not proven yet."""


class Journal:
    """Appends to the journal of one run."""

    def __init__(self, folder: Path) -> None:
        """Open the journal for appending, and terminate a torn last line.

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
            "folder with --out, then continue with `ciguard run --resume`."
        )

    def start(self, parameters: Mapping[str, Any]) -> None:
        """Record the settings of a new run."""
        self._append({"type": "start", "schema": JOURNAL_SCHEMA, "parameters": parameters})

    def resume(self) -> None:
        """Record that the run is resumed, and runs unproven cases again."""
        self._append({"type": "resume"})

    def proven(self, elapsed_s: float) -> None:
        """Record that all progress up to this time is proven."""
        self._append({"type": "proven", "elapsed_s": elapsed_s})

    def progress(  # noqa: PLR0913 - one line must hold all of this
        self,
        elapsed_s: float,
        *,
        streams: Mapping[str, Any],
        targets: Mapping[str, Any],
        counts: Mapping[str, int],
        feedback: Mapping[str, Sequence[Feedback]] | None = None,
        waits: bool = False,
    ) -> None:
        """Record the progress of the run.

        Args:
            elapsed_s: budget that is spent, in seconds.
            streams: state of each stream, as of the last judged batch.
            targets: tally of each target, and APIs exercised since the last line.
            counts: number of findings of the judged batches, by fingerprint.
            feedback: feedback of each stream since the last line.
            waits: whether any of these results are not proven yet.
        """
        line = {"type": "progress", "elapsed_s": elapsed_s, "streams": streams}
        if waits:
            line["waits"] = True
        packed = {name: pack(entries) for name, entries in (feedback or {}).items() if entries}
        self._append({**line, "targets": targets, "counts": counts, "lessons": packed})

    def candidate(self, key: str, finding: Finding) -> None:
        """Record a finding before it is confirmed."""
        self._append({"type": "candidate", "key": key, "finding": finding_to_json(finding)})

    def bucket(self, key: str, bucket: Bucket) -> None:
        """Record the result of a candidate, durably even in a power failure."""
        self._append({"type": "bucket", "key": key, "bucket": bucket_to_json(bucket)}, sync=True)

    def _append(self, line: Mapping[str, Any], *, sync: bool = False) -> None:
        self._write(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")
        if sync:
            try:
                os.fsync(self._file.fileno())
            except OSError as error:
                raise self._unwritable(error) from error

    def _write(self, line: bytes) -> None:
        # The file is unbuffered: a line is written or raises an error, and is never written later.
        unwritten = memoryview(line)
        try:
            while unwritten:
                unwritten = unwritten[self._file.write(unwritten) :]
        except OSError as error:
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _ends_torn(path: Path) -> bool:
    """Return whether the last line is incomplete."""
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def archive_journal(folder: Path) -> None:
    """Rename the journal of an earlier run, so that a new run starts its own.

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


def read_journal(folder: Path) -> ResumeState:
    """Read the journal in `folder`, ignoring torn lines.

    The result has no parameters if the run was killed before its first line.

    Raises:
        OutputError: if it is missing, lacks its first line, or was written by another version of
            ciguard.
    """
    path = folder / JOURNAL
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        msg = f"{path}: nothing to resume ({error.strerror}). Start a run without --resume."
        raise OutputError(msg) from error
    restored = ResumeState()
    entries = list(filter(None, map(_parse, lines)))
    for entry in entries:
        _apply(restored, entry, path)
    if entries and not restored.parameters:
        msg = f"{path}: contains no started run. Start a run without --resume."
        raise OutputError(msg)
    return restored


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _apply(restored: ResumeState, entry: dict[str, Any], path: Path) -> None:
    try:
        match entry["type"]:
            case "start":
                _check_schema(entry["schema"], path)
                restored.parameters = dict(entry["parameters"])
            case "progress":
                restored.elapsed_s = float(entry["elapsed_s"])
                restored.waiting.append(entry)
                if not entry.get("waits"):
                    _accept_progress(restored, until_s=restored.elapsed_s)
            case "proven":
                _accept_progress(restored, until_s=float(entry["elapsed_s"]))
            case "resume":
                restored.waiting.clear()
            case "candidate":
                restored.candidates[str(entry["key"])] = finding_from_json(entry["finding"])
            case "bucket":
                restored.candidates.pop(str(entry["key"]), None)
                restored.buckets.append((str(entry["key"]), bucket_from_json(entry["bucket"])))
            case _:
                pass  # a later minor version may note more
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        msg = f"{path}: not a journal of ciguard ({error!r:.200}). Start a run without --resume."
        raise OutputError(msg) from error


def _accept_progress(restored: ResumeState, *, until_s: float) -> None:
    """Apply the waiting progress lines up to a time, as they are proven."""
    proven = [entry for entry in restored.waiting if float(entry["elapsed_s"]) <= until_s]
    for entry in proven:
        restored.waiting.remove(entry)
        restored.streams = {str(name): _stream(state) for name, state in entry["streams"].items()}
        _apply_targets(restored, entry["targets"])
        restored.counts = {str(key): _natural(count) for key, count in entry["counts"].items()}
        for name, text in entry.get("lessons", {}).items():
            restored.feedback.setdefault(name, []).extend(unpack(text))


def _stream(state: Mapping[str, Any]) -> dict[str, Any]:
    return {"cases": _natural(state["cases"]), "batches": dict(state["batches"])}


def _natural(number: Any) -> int:
    if not isinstance(number, int) or number < 0:
        msg = f"{number!r:.40} is not a count"
        raise ValueError(msg)
    return number


def _apply_targets(restored: ResumeState, targets: dict[str, dict[str, Any]]) -> None:
    """Set the latest tally of every target, and add its exercised APIs."""
    for name, state in targets.items():
        previous = restored.targets.get(name, {"exercised": []})
        exercised = [*previous["exercised"], *map(str, state["exercised"])]
        tally = {status: _natural(state["tally"][status]) for status in Tally().as_dict()}
        restored.targets[name] = {"tally": tally, "exercised": exercised}


def _check_schema(schema: object, path: Path) -> None:
    if schema != JOURNAL_SCHEMA:
        msg = (
            f"{path}: schema {schema}, this ciguard reads {JOURNAL_SCHEMA}. "
            "Resume with the version that started the run, or start a new run without --resume."
        )
        raise OutputError(msg)
