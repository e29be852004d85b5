"""Errands: what a target's server has a child do once, while whoever asks waits."""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ciguard.errors import WorkerStartError
from ciguard.execution.decode import Death, contents, decode_death, excerpt
from ciguard.execution.described_models import MAX_BYTES, failure, read_record
from ciguard.execution.reports import ChildDied, Forked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.execution.process import ServerProcess

_TICK_S = 0.1
_NEWS_S = 1.0
_DESCRIBE_S = 600.0
_MODEL_S = 120.0


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """How a script ended."""

    exit_code: int | None
    """None when it did not end by itself."""
    death: Outcome | None
    """The outcome that its death stands for; None when it ended with code 0 or 1."""
    log: str


class Errands:
    """Asks one target, each question in a child of its own, which may crash or hang."""

    def __init__(self, server: ServerProcess, *, scratch: Path) -> None:
        """Prepare to ask.

        Args:
            server: of the target; no job of it may be under way.
            scratch: an existing folder, for what the children read and write.
        """
        self._server = server
        self._scratch = scratch

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield the records of a target's public API.

        Raises:
            WorkerStartError: if the library's catalogue cannot be read.
        """
        with tempfile.TemporaryFile(dir=self._scratch) as output:
            death, log, _ = self._call("describe", [output.fileno()], limit_s=_DESCRIBE_S)
            if death.status != 0:
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
            sources: see `ciguard.libraries.keras.in_target.seeds`. What they name must be in
                `WorkerSpec.readable`, the `folder` of an application in `WorkerSpec.writable`.
            limit_s: time for one source.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        for source in sources:
            record = self._asked("models", source, limit_s=limit_s)
            yield {**record, "name": source["name"]}

    def functions(
        self, asked: Iterable[Mapping[str, Json]], *, limit_s: float = _MODEL_S
    ) -> Iterator[dict[str, Any]]:
        """Yield what describes the user's functions, program by program, or `{"error"}`.

        Args:
            asked: what the runner's `describe` is given.
            limit_s: time for one program.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        for one in asked:
            yield self._asked("functions", one, limit_s=limit_s)

    def _asked(
        self, operation: str, source: Mapping[str, Json], *, limit_s: float
    ) -> dict[str, Any]:
        """Have a child answer one question with one line of JSON."""
        with (
            tempfile.TemporaryFile(dir=self._scratch) as asked,
            tempfile.TemporaryFile(dir=self._scratch) as output,
        ):
            asked.write(json.dumps([source]).encode())
            asked.flush()
            given = [asked.fileno(), output.fileno()]
            death, log, stack = self._call(operation, given, limit_s=limit_s)
            output.seek(0)
            answer = output.read(MAX_BYTES + 1)
        why = failure(death, log=log, stack=stack, limit_s=limit_s)
        return {"error": why} if why else read_record(answer)

    def run_script(self, text: str, *, limit_s: float) -> ScriptResult:
        """Run a script in a child of a target's self._server.

        Raises:
            WorkerStartError: if the target's server is gone.
        """
        with tempfile.TemporaryFile(dir=self._scratch) as script:
            script.write(text.encode("utf-8", "backslashreplace"))
            script.flush()
            death, log, stack = self._call("script", [script.fileno()], limit_s=limit_s)
        exited = os.WIFEXITED(death.status) and not death.killed_for
        code = os.WEXITSTATUS(death.status) if exited else None
        if code in {0, 1}:
            return ScriptResult(code, None, log)
        on_device = self._server.spec.device != "cpu"
        outcome = decode_death(death, log=log, stack=stack, limit_s=limit_s, on_device=on_device)
        return ScriptResult(code, outcome, log)

    def _call(
        self, operation: str, given: Sequence[int], *, limit_s: float
    ) -> tuple[Death, str, str]:
        with (
            tempfile.TemporaryFile(dir=self._scratch) as log,
            tempfile.TemporaryFile(dir=self._scratch) as stack,
        ):
            ticket = self._server.request(operation, [*given, log.fileno(), stack.fileno()])
            death = self._await_death(ticket, limit_s)
            stack_text = contents(stack.fileno()).decode("utf-8", "replace")
            return death, excerpt(contents(log.fileno())), stack_text

    def _await_death(self, ticket: int, limit_s: float) -> Death:
        deadline = time.monotonic() + limit_s
        pid = 0
        killed_for = ""
        while True:
            now = time.monotonic()
            self._server.check(now)
            if self._server.has_news(min(max(deadline - now, _TICK_S), _NEWS_S)):
                report = self._server.report()
                if isinstance(report, Forked) and report.ticket == ticket:
                    pid = report.pid
                elif isinstance(report, ChildDied) and report.pid == pid:
                    return Death(report.death.status, report.death.peak_kib, killed_for)
            elif pid and not killed_for and time.monotonic() > deadline:
                killed_for = "time"
                self._server.kill(pid, dump=True)


def _description(target: str, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        msg = f"{target}: its public API cannot be listed: {error} in {line[:80]!r}"
        raise WorkerStartError(msg) from error
    if not isinstance(record, dict):
        msg = f"{target}: its public API cannot be listed: {line[:80]!r} is no record"
        raise WorkerStartError(msg)
    return record
