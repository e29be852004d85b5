"""One-off tasks of a target, each run in a child process of the fork server."""

from __future__ import annotations

import json
import os
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from ciguard.errors import WorkerStartError
from ciguard.execution.decode import WorkerExit, decode_exit, excerpt, read_bounded
from ciguard.execution.described_models import MAX_BYTES, failure, read_record
from ciguard.execution.reports import ChildExited, Forked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.execution.process import ServerProcess

_MIN_WAIT_S = 0.1
_MAX_WAIT_S = 1.0
_DESCRIBE_S = 600.0
_MODEL_S = 120.0
_DOCSTRINGS = 250
"""Maximum number of docstrings in one record, whose size is limited."""


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """Result of a script."""

    exit_code: int | None
    """Exit code; None if the script crashed or was killed."""
    death: Outcome | None
    """Outcome that corresponds to its end; None if it exited with code 0 or 1."""
    log: str
    """Output of the script."""


class ChildTasks:
    """Runs tasks on one target, each in its own child process, which may crash or hang."""

    def __init__(self, server: ServerProcess, *, scratch: Path) -> None:
        """Prepare the tasks.

        Args:
            server: fork server of the target, which must not run any job meanwhile.
            scratch: an existing folder for the files that the children read and write.
        """
        self._server = server
        self._scratch = scratch

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield the records of a target's public API.

        Raises:
            WorkerStartError: if the library's catalogue cannot be read.
        """
        with tempfile.TemporaryFile(dir=self._scratch) as output:
            child_exit, log, _ = self._run("describe", [output.fileno()], limit_s=_DESCRIBE_S)
            if child_exit.status != 0:
                msg = f"{self._server.spec.name}: its public API cannot be listed.\n{log.strip()}"
                raise WorkerStartError(msg)
            output.seek(0)
            for line in iter(partial(output.readline, MAX_BYTES), b""):
                yield _description(self._server.spec.name, line)

    def models(
        self, sources: Iterable[Mapping[str, Json]], *, limit_s: float = _MODEL_S
    ) -> Iterator[dict[str, Any]]:
        """Yield one record per seed model: its graph, or `{"name", "error"}`.

        Args:
            sources: sources of seed models, see `ciguard.libraries.keras.in_target.seeds`. Their
                files must be in `WorkerSpec.readable`, an application's `folder` in
                `WorkerSpec.writable`.
            limit_s: timeout of one source, in seconds.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        for source in sources:
            record = self._request_record("models", source, limit_s=limit_s)
            yield {**record, "name": source["name"]}

    def functions(
        self, requests: Iterable[Mapping[str, Json]], *, limit_s: float = _MODEL_S
    ) -> Iterator[dict[str, Any]]:
        """Yield the description of each program's functions, or `{"error"}`.

        Args:
            requests: arguments of the runner's `describe`, one per program.
            limit_s: timeout of one program, in seconds.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        for request in requests:
            yield self._request_record("functions", request, limit_s=limit_s)

    def docstrings(self, apis: Sequence[str]) -> dict[str, str]:
        """Return the whole docstrings of APIs by name, without those that the target lacks.

        Raises:
            WorkerStartError: if the target's server is gone, or if it cannot read them.
        """
        found: dict[str, str] = {}
        for start in range(0, len(apis), _DOCSTRINGS):
            request = {"apis": list(apis[start : start + _DOCSTRINGS])}
            record = self._request_record("docstrings", request, limit_s=_MODEL_S)
            if "error" in record:
                msg = f"{self._server.spec.name}: its docstrings cannot be read: {record['error']}"
                raise WorkerStartError(msg)
            found |= {str(api): str(text) for api, text in record.items()}
        return found

    def deprecation_warnings(self, case: Json, *, limit_s: float) -> list[str]:
        """Return the messages of the deprecation warnings of a case; none if it does not return.

        Args:
            case: encoded case of a worker.
            limit_s: timeout, in seconds.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        record = self._request_record("warnings", {"case": case}, limit_s=limit_s)
        return [str(message) for message in record.get("warnings", ())]

    def _request_record(
        self, operation: str, request: Mapping[str, Json], *, limit_s: float
    ) -> dict[str, Any]:
        """Return the record that a child writes for one request."""
        with (
            tempfile.TemporaryFile(dir=self._scratch) as requests,
            tempfile.TemporaryFile(dir=self._scratch) as output,
        ):
            requests.write(json.dumps([request]).encode())
            requests.flush()
            descriptors = [requests.fileno(), output.fileno()]
            child_exit, log, stack = self._run(operation, descriptors, limit_s=limit_s)
            output.seek(0)
            answer = output.read(MAX_BYTES + 1)
        reason = failure(child_exit, log=log, stack=stack, limit_s=limit_s)
        return {"error": reason} if reason else read_record(answer)

    def run_script(self, text: str, *, limit_s: float) -> ScriptResult:
        """Run a script in a child of the target's fork server.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        (result,) = self.run_scripts([(text, limit_s)])
        return result

    def run_scripts(self, scripts: Sequence[tuple[str, float]]) -> list[ScriptResult]:
        """Run several scripts at the same time, each in a child of the target's fork server.

        Args:
            scripts: text and timeout in seconds of each script.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        with ExitStack() as files:
            children = []
            for text, limit_s in scripts:
                script = self._new_file(files)
                script.write(text.encode("utf-8", "backslashreplace"))
                script.flush()
                children.append(self._start("script", [script.fileno()], limit_s, files))
            self._await_exits(children)
            return [self._script_result(child) for child in children]

    def _script_result(self, child: _RunningChild) -> ScriptResult:
        child_exit, log, stack = child.ended()
        has_exited = os.WIFEXITED(child_exit.status) and not child_exit.killed_for
        code = os.WEXITSTATUS(child_exit.status) if has_exited else None
        if code in {0, 1}:
            return ScriptResult(code, None, log)
        on_device = self._server.spec.device != "cpu"
        outcome = decode_exit(
            child_exit, log=log, stack=stack, limit_s=child.limit_s, on_device=on_device
        )
        return ScriptResult(code, outcome, log)

    def _run(
        self, operation: str, descriptors: Sequence[int], *, limit_s: float
    ) -> tuple[WorkerExit, str, str]:
        """Run one operation in a child; return its exit, its log and its stack."""
        with ExitStack() as files:
            child = self._start(operation, descriptors, limit_s, files)
            self._await_exits([child])
            return child.ended()

    def _start(
        self, operation: str, descriptors: Sequence[int], limit_s: float, files: ExitStack
    ) -> _RunningChild:
        """Request a child for one operation, whose files stay open as long as `files`."""
        log, stack = self._new_file(files), self._new_file(files)
        ticket = self._server.request(operation, [*descriptors, log.fileno(), stack.fileno()])
        deadline = time.monotonic() + limit_s
        return _RunningChild(ticket, limit_s, log.fileno(), stack.fileno(), deadline)

    def _new_file(self, files: ExitStack) -> IO[bytes]:
        """Return an empty temporary file, which is open as long as `files`."""
        return files.enter_context(tempfile.TemporaryFile(dir=self._scratch))

    def _await_exits(self, children: Sequence[_RunningChild]) -> None:
        """Wait until all children have exited; kill those that exceed their timeouts."""
        while running := [child for child in children if child.exit is None]:
            now = time.monotonic()
            self._server.check(now)
            left_s = min(child.deadline for child in running) - now
            if self._server.has_report(min(max(left_s, _MIN_WAIT_S), _MAX_WAIT_S)):
                report = self._server.next_report()
                for child in running:
                    child.note(report)
                continue
            for child in running:
                if child.pid and not child.killed_for and time.monotonic() > child.deadline:
                    child.killed_for = "time"
                    self._server.kill(child.pid, dump=True)


@dataclass(slots=True)
class _RunningChild:
    """A child that runs one operation."""

    ticket: int
    limit_s: float
    log: int
    """Descriptor of the file of its output."""
    stack: int
    """Descriptor of the file of its Python stack."""
    deadline: float
    """Time when it is killed, on the clock of `time.monotonic`."""
    pid: int = 0
    killed_for: str = ""
    exit: WorkerExit | None = None

    def note(self, report: Forked | ChildExited) -> None:
        """Process a report of the server, which may be about another child."""
        if isinstance(report, Forked):
            self.pid = report.pid if report.ticket == self.ticket else self.pid
        elif report.pid == self.pid:
            self.exit = replace(report.exit, killed_for=self.killed_for)

    def ended(self) -> tuple[WorkerExit, str, str]:
        """Return the exit of a child that has ended, its log and its stack."""
        if self.exit is None:
            msg = f"child {self.ticket} is running"
            raise AssertionError(msg)
        stack = read_bounded(self.stack).decode("utf-8", "replace")
        return self.exit, excerpt(read_bounded(self.log)), stack


def _description(target: str, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        msg = f"{target}: its public API cannot be listed: {error} in {line[:80]!r}"
        raise WorkerStartError(msg) from error
    if not isinstance(record, dict):
        msg = f"{target}: its public API cannot be listed: {line[:80]!r} is not an object"
        raise WorkerStartError(msg)
    return record
