"""The outbox: what is to be done in the tracker, on disk before it is tried.

A run that is killed while it files, or whose tracker does not answer, leaves it to the next one.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from ciguard.domain import visible
from ciguard.errors import OutputError
from ciguard.files import read_text, replace_file
from ciguard.trackers.tasks import replaces, task_from_json, task_to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.trackers.tasks import Task

OUTBOX = "outbox.jsonl"
_MOST_BYTES = 256 << 20
_PATIENCE_S = 60.0
_SCHEMA = 1


class Outbox:
    """Tasks in order, in one file of a folder that outlives the run."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / OUTBOX

    def tasks(self) -> list[Task]:
        """Return what waits, the oldest first.

        Raises:
            OutputError: if the file cannot be read; it is left as it is.
        """
        try:
            text = read_text(self._path, most=_MOST_BYTES)
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise OutputError(self._cannot(f"cannot be read: {error}")) from error
        return [
            self._task(number, line)
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]

    def add(self, tasks: Iterable[Task]) -> None:
        """Add tasks; one that makes an earlier one pointless takes its place.

        Raises:
            OutputError: if the file cannot be read or written.
        """
        with self._locked():
            waiting = self.tasks()
            for task in tasks:
                waiting = [other for other in waiting if not replaces(task, other)] + [task]
            self._write(waiting)

    def remove(self, done: Iterable[Task]) -> None:
        """Take out what is done.

        Raises:
            OutputError: if the file cannot be read or written.
        """
        gone = list(done)
        if gone:
            with self._locked():
                self._write([task for task in self.tasks() if task not in gone])

    def _write(self, tasks: list[Task]) -> None:
        lines = (json.dumps({"schema": _SCHEMA, **task_to_json(task)}) for task in tasks)
        try:
            if tasks:
                replace_file(self._path, "".join(f"{line}\n" for line in lines), durable=True)
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(self._cannot(f"cannot be written: {error}")) from error

    def _task(self, number: int, line: str) -> Task:
        try:
            encoded = json.loads(line)
            if not isinstance(encoded, dict) or encoded.pop("schema", None) != _SCHEMA:
                msg = f"not a task of schema {_SCHEMA}"
                raise ValueError(msg)  # noqa: TRY301 - one place says what a bad line is
            return task_from_json(encoded)
        except (ValueError, RecursionError) as error:
            reason = f"line {number}: {visible(str(error), limit=200)}"
            raise OutputError(self._cannot(reason)) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._path.with_suffix(".lock"), timeout=_PATIENCE_S):
                yield
        except (OSError, Timeout) as error:
            raise OutputError(self._cannot(f"cannot be locked: {error}")) from error

    def _cannot(self, reason: str) -> str:
        return (
            f"{self._path}: {reason}. It holds what earlier runs could not file; mend that line, "
            "or move the file away to forget it."
        )
