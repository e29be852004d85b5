"""The outbox: what is to be done in the tracker, on disk before it is tried.

A run that is killed while it files, or whose tracker does not answer, leaves it to the next one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import OutputError
from ciguard.files import read_text, replace_file
from ciguard.trackers.tasks import replaces, task_from_json, task_to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ciguard.baseline import BaselineStore, Change, Records
    from ciguard.trackers.tasks import Task

OUTBOX = "outbox.jsonl"
_MAX_BYTES = 256 << 20
_SCHEMA = 1


def _unchanged(records: Records) -> Records:
    return records


class Outbox:
    """Tasks in order, in one file beside the baseline: it is there when the next run files."""

    def __init__(self, store: BaselineStore) -> None:
        self._store = store

    def tasks(self) -> list[Task]:
        """Return what waits, the oldest first.

        Raises:
            OutputError: if the file cannot be read; it is left as it is.
        """
        return self._read(self._store.folder / OUTBOX)

    def add(self, tasks: Sequence[Task]) -> None:
        """Add tasks; one that makes an earlier one pointless takes its place.

        Raises:
            OutputError: if the file cannot be read or written.
            BaselineError: if the baseline cannot.
        """
        if tasks:
            self._store.save({}, beside=lambda folder: self.put(folder, tasks))

    def put(self, folder: Path, tasks: Sequence[Task]) -> None:
        """Add tasks in the course of a change of the baseline.

        Args:
            folder: the baseline's, which nobody else writes meanwhile.
            tasks: as for `add`.

        Raises:
            OutputError: if the file cannot be read or written.
        """
        waiting = self._read(folder / OUTBOX)
        for task in tasks:
            waiting = [other for other in waiting if not replaces(task, other)] + [task]
        _write(folder / OUTBOX, waiting)

    def remove(
        self,
        done: Sequence[Task],
        *,
        behind: Sequence[Task] = (),
        change: Change = _unchanged,
    ) -> None:
        """Take out what is done, and change the records of the baseline in the same step.

        Args:
            done: goes.
            behind: what was refused; it waits behind all others.
            change: of the baseline.

        Raises:
            OutputError: if the file cannot be read or written.
            BaselineError: if the baseline cannot.
        """

        def beside(folder: Path) -> None:
            waiting = [task for task in self._read(folder / OUTBOX) if task not in done]
            _write(folder / OUTBOX, sorted(waiting, key=behind.__contains__))

        moves = bool(done or behind)
        if moves or change is not _unchanged:
            self._store.change(change, beside=beside if moves else None)

    def _read(self, path: Path) -> list[Task]:
        try:
            text = read_text(path, most=_MAX_BYTES)
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise OutputError(_cannot(path, f"cannot be read: {error}")) from error
        return [
            _task(path, number, line)
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]


def _write(path: Path, tasks: list[Task]) -> None:
    lines = (json.dumps({"schema": _SCHEMA, **task_to_json(task)}) for task in tasks)
    try:
        if tasks:
            replace_file(path, "".join(f"{line}\n" for line in lines), durable=True)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror or error}. Free space, then run again."
        raise OutputError(msg) from error


def _task(path: Path, number: int, line: str) -> Task:
    try:
        encoded = json.loads(line)
        if not isinstance(encoded, dict) or encoded.pop("schema", None) != _SCHEMA:
            msg = f"not a task of schema {_SCHEMA}"
            raise ValueError(msg)  # noqa: TRY301 - one place says what a bad line is
        return task_from_json(encoded)
    except (ValueError, RecursionError) as error:
        reason = f"line {number}: {visible(str(error), limit=200)}"
        raise OutputError(_cannot(path, reason)) from error


def _cannot(path: Path, reason: str) -> str:
    return (
        f"{path}: {reason}. It holds what earlier runs could not file; mend that line, "
        "or move the file away to forget it."
    )
