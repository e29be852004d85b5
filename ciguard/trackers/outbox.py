"""The outbox: what is to be done in the tracker, on disk before it is tried.

A run that is killed while it files, or whose tracker does not answer, leaves it to the next one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ciguard.domain import visible
from ciguard.errors import OutputError
from ciguard.files import read_text, replace_file
from ciguard.trackers.tasks import replaces, task_from_json, task_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ciguard.baseline import BaselineStore
    from ciguard.trackers.tasks import Task

OUTBOX = "outbox.jsonl"
_MOST_BYTES = 256 << 20
_SCHEMA = 1


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

    def add(self, tasks: Iterable[Task]) -> None:
        """Add tasks; one that makes an earlier one pointless takes its place.

        Raises:
            OutputError: if the file cannot be read.
            BaselineError: if it cannot be written.
        """
        added = list(tasks)

        def with_added(waiting: list[Task]) -> list[Task]:
            for task in added:
                waiting = [other for other in waiting if not replaces(task, other)] + [task]
            return waiting

        if added:
            self._change(with_added)

    def remove(self, done: Iterable[Task]) -> None:
        """Take out what is done.

        Raises:
            OutputError: if the file cannot be read.
            BaselineError: if it cannot be written.
        """
        gone = list(done)
        if gone:
            self._change(lambda waiting: [task for task in waiting if task not in gone])

    def _change(self, changed: Callable[[list[Task]], list[Task]]) -> None:
        """Write what becomes of the tasks, while nobody else writes the baseline."""

        def beside(folder: Path) -> None:
            path = folder / OUTBOX
            tasks = changed(self._read(path))
            lines = (json.dumps({"schema": _SCHEMA, **task_to_json(task)}) for task in tasks)
            if tasks:
                replace_file(path, "".join(f"{line}\n" for line in lines), durable=True)
            else:
                path.unlink(missing_ok=True)

        self._store.save({}, beside=beside)

    def _read(self, path: Path) -> list[Task]:
        try:
            text = read_text(path, most=_MOST_BYTES)
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise OutputError(_cannot(path, f"cannot be read: {error}")) from error
        return [
            _task(path, number, line)
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]


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
