"""The local tracker: a folder with one markdown file per group."""

from __future__ import annotations

import re
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from ciguard.domain.text import markdown_code, markdown_text
from ciguard.errors import OutputError
from ciguard.files import read_text, replace_file
from ciguard.trackers.contract import ROLL_UP, TRACKERS, Issue, Report, is_name, marker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_MAX_BYTES = 1 << 20
_LOCK_TIMEOUT_S = 60.0
_STATE = re.compile(r"<!-- ciguard-state: (open|closed|ignored) -->")
_OPENED = re.compile(r"^- (\d{4}-\d\d-\d\d \d\d:\d\d) UTC: opened$", re.MULTILINE)
_CAUSE_FILE = re.compile(r"g\d+-[0-9a-f]{16}[A-Za-z0-9_.-]{0,100}\.md")
"""Matches a file that is named after a cause; other names in a baseline are ignored."""
_HISTORY = "<!-- ciguard-history -->"
_HEADING = f"{_HISTORY}\n\n### History\n"


_TIME = "%Y-%m-%d %H:%M"


def _now() -> datetime:
    return datetime.now(UTC)


class LocalTracker:
    """Issues as files, such as `v1-0123456789abcdef-torch.nn.functional.fold.md`.

    The first line of a file is the marker, the second line the state; text and history follow. The
    user may rename a file as long as its name starts with the group's name. The state `ignored`
    silences an issue.
    """

    def __init__(self, folder: str | Path, *, now: Callable[[], datetime] = _now) -> None:
        self._folder = Path(folder)
        self._now = now
        self._numbers: dict[str, str] = {}
        """Names of the files that the baseline records, by fingerprint."""

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Set the file names that the baseline records, by fingerprint.

        They find the issue of a group after the name of its cause has changed.
        """
        self._numbers = {n: file for n, file in numbers.items() if _CAUSE_FILE.fullmatch(file)}

    def find(self, *names: str) -> Issue | None:
        """Return the group's issue, open or closed; None if there is none.

        Raises:
            OutputError: if the file of the issue cannot be read.
        """
        path = self._kept_path(self._paths_of(*names), names[0])
        return None if path is None else _issue(names[0], path, self._read(path))

    def open(self, report: Report) -> Issue:
        """File an issue, or replace the text, but not the history, of the group's issue.

        Raises:
            OutputError: if the folder cannot be written.
        """
        with self._locked():
            paths = self._paths_of(*report.names)
            path = self._kept_path(paths, report.fingerprint)
            if path is None:
                name = f"{_stem(report.fingerprint)}-{report.slug}".rstrip("-")
                return self._write_issue(report, self._folder / f"{name}.md", self._line("opened"))
            old_text = self._read(path)
            state = _state(old_text)
            if state == "ignored":
                new_path, issue = path, _issue(report.fingerprint, path, old_text)
            else:
                new_path = self._renamed(path, report.fingerprint)
                history = old_text.rpartition(_HEADING)[2]
                issue = self._write_issue(report, new_path, history, state=state)
                if new_path != path:
                    path.unlink(missing_ok=True)
            self._close_as_duplicates([other for other in paths if other != path], of=new_path)
            return issue

    def _write_issue(
        self, report: Report, path: Path, history: str, *, state: str = "open"
    ) -> Issue:
        text = _file_text(report, state=state, history=history)
        self._write(path, text)
        return _issue(report.fingerprint, path, text)

    def comment(self, issue: Issue, text: str) -> None:
        """Add a line of plain text to the issue's history, unless the last line is the same.

        Raises:
            OutputError: if there is no such issue, or its file cannot be written.
        """
        self._record(issue, markdown_text(text), state=None)

    def close(self, issue: Issue, because: str) -> Issue:
        """Close the issue with a line that gives the reason, unless it is closed.

        Raises:
            OutputError: if there is no such issue, or its file cannot be written.
        """
        return self._record(issue, f"closed: {markdown_text(because)}", state="closed")

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Reopen the issue with a line that gives the reason, unless it is open.

        Raises:
            OutputError: if there is no such issue, or its file cannot be written.
        """
        return self._record(issue, f"reopened: {markdown_text(because)}", state="open")

    def opened_since(self, moment: datetime) -> int:
        """Return how many issues of groups were opened since `moment`; `ROLL_UP` does not count.

        Raises:
            OutputError: if a file cannot be read.
        """
        paths = [
            p for p in self._folder.glob("[gv]*-*.md") if not p.name.startswith(_stem(ROLL_UP))
        ]
        opened = (_OPENED.search(self._read(path).rpartition(_HEADING)[2]) for path in paths)
        times = [datetime.strptime(f"{o[1]}+0000", f"{_TIME}%z") for o in opened if o]
        return sum(time >= moment for time in times)

    def _record(self, issue: Issue, line: str, *, state: str | None) -> Issue:
        with self._locked():
            path = self._folder / Path(issue.number).name
            if not path.is_file():  # another job renamed it
                path = next(iter(self._paths_of(issue.fingerprint)), path)
            if not path.is_file():
                msg = (
                    f"{self._folder} contains no issue for {issue.fingerprint}; another "
                    "process may have removed it. Run again."
                )
                raise OutputError(msg)
            text = self._read(path)
            is_repeated = text.rstrip("\n").endswith(f"UTC: {line}") and state is None
            if is_repeated or _state(text) in {state, "ignored"}:
                return _issue(issue.fingerprint, path, text)
            if state is not None:
                text = _STATE.sub(f"<!-- ciguard-state: {state} -->", text, count=1)
            text = text.rstrip("\n") + "\n" + self._line(line)
            self._write(path, text)
            return _issue(issue.fingerprint, path, text)

    @staticmethod
    def _renamed(path: Path, fingerprint: str) -> Path:
        """Return the path that a file has if it is renamed to the group's current name."""
        stem = _stem(fingerprint)
        return path if path.name.startswith(stem) else path.with_name(stem + path.name[len(stem) :])

    def _line(self, markdown: str) -> str:
        return f"- {self._now().strftime(_TIME)} UTC: {markdown}\n"

    def _paths_of(self, *names: str) -> list[Path]:
        """Return the files of a group: named after the group, then recorded in the baseline."""
        paths: list[Path] = []
        for name in names:
            if not is_name(name):
                msg = f"{name!r:.60} is not the name of an issue, such as v1:0123456789abcdef"
                raise OutputError(msg)
            paths += sorted(self._folder.glob(f"{_stem(name)}*.md"))
        known = (self._folder / self._numbers[name] for name in names if name in self._numbers)
        return list(dict.fromkeys([*paths, *(path for path in known if path.is_file())]))

    def _kept_path(self, paths: list[Path], name: str) -> Path | None:
        """Return the file of a group to keep: the group's own file, else a file of an open issue.

        Returns None if there are no files.
        """
        own = [path for path in paths if path.name.startswith(_stem(name))]
        if own or not paths:
            return next(iter(own), None)
        return next((path for path in paths if _state(self._read(path)) == "open"), paths[0])

    def _close_as_duplicates(self, paths: list[Path], *, of: Path) -> None:
        for path in paths:
            text = self._read(path)
            if _state(text) == "open":
                closed = _STATE.sub("<!-- ciguard-state: closed -->", text, count=1)
                line = self._line(f"closed: duplicate of {markdown_text(of.name)}")
                self._write(path, closed.rstrip("\n") + "\n" + line)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._folder / ".lock", timeout=_LOCK_TIMEOUT_S)
            lock.acquire()
        except Timeout as error:
            msg = (
                f"{self._folder}: another process has locked the issues for "
                f"{_LOCK_TIMEOUT_S:g} s. Wait for that process to end, then run again."
            )
            raise OutputError(msg) from error
        except OSError as error:
            raise OutputError(self._failure("written", self._folder, error)) from error
        try:
            yield
        finally:
            lock.release()

    def _read(self, path: Path) -> str:
        try:
            return read_text(path, most=_MAX_BYTES)
        except (OSError, ValueError) as error:
            raise OutputError(self._failure("read", path, error)) from error

    def _write(self, path: Path, text: str) -> None:
        try:
            replace_file(path, text)
        except OSError as error:
            raise OutputError(self._failure("written", path, error)) from error

    @staticmethod
    def _failure(action: str, path: Path, error: Exception) -> str:
        reason = getattr(error, "strerror", None) or error
        return (
            f"{path}: the issue cannot be {action}: {reason}. "
            "Correct or move the file, then run again."
        )


def _stem(fingerprint: str) -> str:
    return fingerprint.replace(":", "-")


def _state(text: str) -> str:
    header = "\n".join(text.split("\n", 2)[:2])
    match = _STATE.search(header)
    return match[1] if match else "open"


def _issue(fingerprint: str, path: Path, text: str) -> Issue:
    state = _state(text)
    return Issue(
        fingerprint=fingerprint,
        number=path.name,
        is_open=state == "open",
        is_silenced=state == "ignored",
    )


def _file_text(report: Report, *, state: str, history: str) -> str:
    head = marker(report.fingerprint)
    body = report.body.removeprefix(head).strip("\n")
    return (
        f"{head}\n<!-- ciguard-state: {state} -->\n\n# {markdown_code(report.title)}\n\n"
        f"{body}\n\n{_HEADING}{history}"
    )


TRACKERS.register("local", LocalTracker)
