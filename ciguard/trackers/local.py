"""The local tracker: one markdown file per group, in a folder."""

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
_PATIENCE_S = 60.0
_STATE = re.compile(r"<!-- ciguard-state: (open|closed|ignored) -->")
_OPENED = re.compile(r"^- (\d{4}-\d\d-\d\d \d\d:\d\d) UTC: opened$", re.MULTILINE)
_OF_GROUP = re.compile(r"g\d+-[0-9a-f]{16}[A-Za-z0-9_.-]{0,100}\.md")
"""A file that is named after a cause. What a baseline names otherwise leads nowhere."""
_HISTORY = "<!-- ciguard-history -->"
_HEADING = f"{_HISTORY}\n\n### History\n"


_TIME = "%Y-%m-%d %H:%M"


def _now() -> datetime:
    return datetime.now(UTC)


class LocalTracker:
    """Issues as files: `v1-0123456789abcdef-torch.nn.functional.fold.md`.

    The first line is the marker, the second the state; text, then history follow. A file may be
    renamed as long as it begins with the group's name. Whoever writes `ignored` for the state
    silences the issue.
    """

    def __init__(self, folder: str | Path, *, now: Callable[[], datetime] = _now) -> None:
        self._folder = Path(folder)
        self._now = now
        self._numbers: dict[str, str] = {}
        """By fingerprint, the file that the baseline knows."""

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Learn anew which files the baseline knows: the name of a group's cause may change."""
        self._numbers = {n: file for n, file in numbers.items() if _OF_GROUP.fullmatch(file)}

    def find(self, *names: str) -> Issue | None:
        """Return the issue of the group with these names, open or closed, if there is one.

        Raises:
            OutputError: if its file cannot be read.
        """
        path = self._staying(self._paths_of(*names), names[0])
        return None if path is None else _issue(names[0], path, self._read(path))

    def open(self, report: Report) -> Issue:
        """File an issue; where the group has one, its text is replaced and its history kept.

        Raises:
            OutputError: if the folder cannot be written.
        """
        with self._locked():
            paths = self._paths_of(*report.names)
            path = self._staying(paths, report.fingerprint)
            if path is None:
                name = f"{_stem(report.fingerprint)}-{report.slug}".rstrip("-")
                return self._written(report, self._folder / f"{name}.md", self._line("opened"))
            before = self._read(path)
            state = _state(before)
            if state == "ignored":
                named, issue = path, _issue(report.fingerprint, path, before)
            else:
                named = self._named(path, report.fingerprint)
                history = before.rpartition(_HEADING)[2]
                issue = self._written(report, named, history, state=state)
                if named != path:
                    path.unlink(missing_ok=True)
            self._close_as_duplicates([other for other in paths if other != path], of=named)
            return issue

    def _written(self, report: Report, path: Path, history: str, *, state: str = "open") -> Issue:
        text = _file_text(report, state=state, history=history)
        self._write(path, text)
        return _issue(report.fingerprint, path, text)

    def comment(self, issue: Issue, text: str) -> None:
        """Add a line of plain text to the issue's history, unless its last line says so.

        Raises:
            OutputError: if there is no such issue, or its file cannot be written.
        """
        self._record(issue, markdown_text(text), state=None)

    def close(self, issue: Issue, because: str) -> Issue:
        """Close the issue with a line that says why; a closed one stays as it is.

        Raises:
            OutputError: if there is no such issue, or its file cannot be written.
        """
        return self._record(issue, f"closed: {markdown_text(because)}", state="closed")

    def reopen(self, issue: Issue, because: str) -> Issue:
        """Open the issue again with a line that says why; an open one stays as it is.

        Raises:
            OutputError: if there is no such issue, or its file cannot be written.
        """
        return self._record(issue, f"reopened: {markdown_text(because)}", state="open")

    def opened_since(self, moment: datetime) -> int:
        """Return how many groups got their issue at `moment` or later; the list does not count.

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
            if not path.is_file():  # another job has named it anew
                path = next(iter(self._paths_of(issue.fingerprint)), path)
            if not path.is_file():
                msg = f"{self._folder}: no issue of {issue.fingerprint}; open one first"
                raise OutputError(msg)
            text = self._read(path)
            said = text.rstrip("\n").endswith(f"UTC: {line}") and state is None
            if said or _state(text) in {state, "ignored"}:
                return _issue(issue.fingerprint, path, text)
            if state is not None:
                text = _STATE.sub(f"<!-- ciguard-state: {state} -->", text, count=1)
            text = text.rstrip("\n") + "\n" + self._line(line)
            self._write(path, text)
            return _issue(issue.fingerprint, path, text)

    @staticmethod
    def _named(path: Path, fingerprint: str) -> Path:
        """Return the path under which a file that was found by an alias is found from now on."""
        stem = _stem(fingerprint)
        return path if path.name.startswith(stem) else path.with_name(stem + path.name[len(stem) :])

    def _line(self, markdown: str) -> str:
        return f"- {self._now().strftime(_TIME)} UTC: {markdown}\n"

    def _paths_of(self, *names: str) -> list[Path]:
        """Return the files of a group: those that are named after it, then those it is known by."""
        paths: list[Path] = []
        for name in names:
            if not is_name(name):
                msg = f"{name!r:.60} is not a name such as v1:0123456789abcdef"
                raise OutputError(msg)
            paths += sorted(self._folder.glob(f"{_stem(name)}*.md"))
        known = (self._folder / self._numbers[name] for name in names if name in self._numbers)
        return list(dict.fromkeys([*paths, *(path for path in known if path.is_file())]))

    def _staying(self, paths: list[Path], name: str) -> Path | None:
        """Return the file that stays: the group's own, else an open one."""
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
            lock = FileLock(self._folder / ".lock", timeout=_PATIENCE_S)
            lock.acquire()
        except Timeout as error:
            msg = (
                f"{self._folder}: another process has held the issues for {_PATIENCE_S:g} s. "
                "Wait for it to end, then run again."
            )
            raise OutputError(msg) from error
        except OSError as error:
            raise OutputError(self._cannot("written", self._folder, error)) from error
        try:
            yield
        finally:
            lock.release()

    def _read(self, path: Path) -> str:
        try:
            return read_text(path, most=_MAX_BYTES)
        except (OSError, ValueError) as error:
            raise OutputError(self._cannot("read", path, error)) from error

    def _write(self, path: Path, text: str) -> None:
        try:
            replace_file(path, text)
        except OSError as error:
            raise OutputError(self._cannot("written", path, error)) from error

    @staticmethod
    def _cannot(done: str, path: Path, error: Exception) -> str:
        reason = getattr(error, "strerror", None) or error
        return f"{path}: the issue cannot be {done}: {reason}. Correct or move the file, run again."


def _stem(fingerprint: str) -> str:
    return fingerprint.replace(":", "-")


def _state(text: str) -> str:
    header = "\n".join(text.split("\n", 2)[:2])
    found = _STATE.search(header)
    return found[1] if found else "open"


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
