"""The outbox: tasks for the tracker, written to disk before they are attempted.

If a run is killed while it files, or the tracker does not respond, the next run performs the tasks.
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
    """A queue of tasks in a file in the baseline's folder, where the next run finds it."""

    def __init__(self, store: BaselineStore) -> None:
        self._store = store

    def tasks(self) -> list[Task]:
        """Return the tasks in the outbox, the oldest first.

        Raises:
            OutputError: if the file cannot be read; the file stays unchanged.
        """
        return self._read(self._store.folder / OUTBOX)

    def add(self, tasks: Sequence[Task]) -> None:
        """Add tasks; a task replaces earlier tasks that it makes obsolete.

        Raises:
            OutputError: if the file cannot be read or written.
            BaselineError: if the baseline cannot be read or written.
        """
        if tasks:
            self._store.save({}, beside=lambda folder: self.put(folder, tasks))

    def put(self, folder: Path, tasks: Sequence[Task]) -> None:
        """Add tasks while a change of the baseline is in progress.

        Args:
            folder: the folder of the baseline, which the caller has locked.
            tasks: the tasks to add.

        Raises:
            OutputError: if the file cannot be read or written.
        """
        queue = self._read(folder / OUTBOX)
        for task in tasks:
            queue = [other for other in queue if not replaces(task, other)] + [task]
        _write(folder / OUTBOX, queue)

    def remove(
        self,
        done: Sequence[Task],
        *,
        postponed: Sequence[Task] = (),
        change: Change = _unchanged,
    ) -> None:
        """Remove completed tasks, and change the records of the baseline in the same step.

        Args:
            done: the tasks to remove.
            postponed: the refused tasks, which move to the end of the queue.
            change: the change of the baseline's records.

        Raises:
            OutputError: if the file cannot be read or written.
            BaselineError: if the baseline cannot be read or written.
        """

        def beside(folder: Path) -> None:
            queue = [task for task in self._read(folder / OUTBOX) if task not in done]
            _write(folder / OUTBOX, sorted(queue, key=postponed.__contains__))

        has_changes = bool(done or postponed)
        if has_changes or change is not _unchanged:
            self._store.change(change, beside=beside if has_changes else None)

    def _read(self, path: Path) -> list[Task]:
        try:
            text = read_text(path, most=_MAX_BYTES)
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise OutputError(_failure(path, f"cannot be read: {error}")) from error
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
        reason = error.strerror or error
        msg = f"{path}: cannot be written: {reason}. Free disk space, then run again."
        raise OutputError(msg) from error


def _task(path: Path, number: int, line: str) -> Task:
    try:
        encoded = json.loads(line)
        if not isinstance(encoded, dict) or encoded.pop("schema", None) != _SCHEMA:
            msg = f"not a task of schema {_SCHEMA}, which this version of ciguard reads"
            raise ValueError(msg)  # noqa: TRY301 - the handler below reports all malformed lines
        return task_from_json(encoded)
    except (ValueError, RecursionError) as error:
        reason = f"line {number}: {visible(str(error), limit=200)}"
        raise OutputError(_failure(path, reason)) from error


def _failure(path: Path, reason: str) -> str:
    return (
        f"{path}: {reason}. The file contains tasks that earlier runs could not complete. "
        "Correct that line, or move the file away to discard them."
    )
