"""The process in which functions of a program are described and called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.execution import GRACE_S, START_S, Answered, Host, HostSettings
from ciguard.functions.in_target.calling.caller import ORACLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.execution import Answer
    from ciguard.functions.specs.programs import ProgramFile

IMPORT_S = 900.0
"""Seconds that the import of a program may take: libraries that compile kernels take minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings(HostSettings):
    """How the process is started. It has the rights of whoever tests the program: it is theirs."""

    entry: str = "ciguard.functions.in_target.child"
    coverage: Mapping[str, Any] | None = None
    """Options of coverage.py's `[run]`; None: nothing is measured."""
    oracles: frozenset[str] = ORACLES
    """Kinds of failures that count, of those that the process judges."""


class ProgramHost(Host):
    """A process for programs that share an import path, started when it is needed."""

    def __init__(self, settings: ProgramSettings) -> None:
        super().__init__(settings)
        self._coverage = settings.coverage
        self._oracles = sorted(settings.oracles)
        self._loaded: set[Path] = set()
        self._loaded_at = 0
        """Which process has imported them, by the number of its start."""
        if settings.coverage is not None:
            # With its channel closed the process ends by itself and writes its coverage.
            self.patience_s = GRACE_S

    @property
    def measuring_problem(self) -> str:
        """Why coverage is not measured though it should be."""
        return self.remark

    def details(self) -> dict[str, Any]:
        """Return what is measured and judged, for the next process."""
        coverage = None
        if self._coverage is not None:
            coverage = {**self._coverage, "data_file": str(self.folder / f"coverage.{self.starts}")}
        return {**super().details(), "coverage": coverage, "oracles": self._oracles}

    def load(self, program: ProgramFile) -> Answer:
        """Import a program and describe its functions."""
        answer = self.request({"op": "load", "program": program.to_json()}, IMPORT_S)
        if isinstance(answer, Answered) and "description" in answer.content:
            if self._loaded_at != self.starts:
                self._loaded.clear()
            self._loaded_at = self.starts
            self._loaded.add(program.file)
        return answer

    def _has_loaded(self, program: ProgramFile) -> bool:
        is_present = self.is_running and self._loaded_at == self.starts
        return is_present and program.file in self._loaded

    def call(self, program: ProgramFile, call: Json, *, limit_s: float) -> Answer:
        """Call a function of a program.

        Args:
            program: is imported first where the process is new.
            call: see `ciguard.functions.Call.to_json`.
            limit_s: seconds that the call may take.
        """
        return self._request_of(program, {"op": "call", "call": call}, limit_s)

    def nested(self, program: ProgramFile, call: Json, *, limit_s: float) -> Answer:
        """Call a function that defines others, and describe those; see `call`."""
        return self._request_of(program, {"op": "nested", "call": call}, limit_s)

    def _request_of(self, program: ProgramFile, request: Json, limit_s: float) -> Answer:
        if not self._has_loaded(program):
            loaded = self.load(program)
            if not self._has_loaded(program):
                return loaded
        message = {**request, "file": str(program.file), "limit_s": limit_s}
        return self.ask(message, limit_s=limit_s)

    def run_as_script(
        self, program: ProgramFile, arguments: Sequence[str], *, limit_s: float
    ) -> Answer:
        """Run a program as the main module, in a process of its own."""
        self.stop()
        request = {
            "op": "main",
            "program": program.to_json(),
            "arguments": list(arguments),
            "limit_s": limit_s,
        }
        answer = self.ask(request, limit_s=limit_s)
        self.stop()
        return answer

    def save_coverage(self) -> None:
        """Have what was measured so far written to `coverage_files`."""
        if self.is_running and self._coverage is not None:
            self.request({"op": "save"}, START_S)

    def coverage_files(self) -> list[Path]:
        """Return the files with what was measured, one of each process."""
        return sorted(self.folder.glob("coverage.*"))
