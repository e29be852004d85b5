"""Process that imports a program, describes its functions and calls them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.execution import GRACE_S, START_TIMEOUT_S, Answered, Host, HostSettings
from ciguard.functions.in_target.calling.caller import ORACLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.execution import Answer
    from ciguard.functions.specs.programs import ProgramFile

IMPORT_TIMEOUT_S = 900.0
"""Timeout of a program's import, in seconds; a library may compile kernels for minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSettings(HostSettings):
    """Settings of the process, which has the user's rights because it runs the user's code."""

    entry: str = "ciguard.functions.in_target.child"
    coverage: Mapping[str, Any] | None = None
    """Options of section `[run]` of coverage.py's configuration; None to measure no coverage."""
    oracles: frozenset[str] = ORACLES
    """Names of the oracles of the process whose failures count."""


class ProgramHost(Host):
    """Process for the programs of one import path, started on demand."""

    def __init__(self, settings: ProgramSettings) -> None:
        super().__init__(settings)
        self._coverage = settings.coverage
        self._oracles = sorted(settings.oracles)
        self._loaded: set[Path] = set()
        self._loaded_in_start = 0
        """Number of the process start, from 1, after which the programs were imported."""
        if settings.coverage is not None:
            # The process saves its coverage before it exits, so it must not be killed at once.
            self.patience_s = GRACE_S

    def details(self) -> dict[str, Any]:
        """Return the settings for the next process, with those of coverage and oracles."""
        coverage = None
        if self._coverage is not None:
            coverage = {**self._coverage, "data_file": str(self.folder / f"coverage.{self.starts}")}
        return {**super().details(), "coverage": coverage, "oracles": self._oracles}

    def load(self, program: ProgramFile) -> Answer:
        """Import a program, and return an answer with the JSON description of its functions."""
        answer = self.request({"op": "load", "program": program.to_json()}, IMPORT_TIMEOUT_S)
        if isinstance(answer, Answered) and "description" in answer.content:
            if self._loaded_in_start != self.starts:
                self._loaded.clear()
            self._loaded_in_start = self.starts
            self._loaded.add(program.file)
        return answer

    def _has_loaded(self, program: ProgramFile) -> bool:
        is_present = self.is_running and self._loaded_in_start == self.starts
        return is_present and program.file in self._loaded

    def call(self, program: ProgramFile, call: Json, *, limit_s: float) -> Answer:
        """Call a function of a program, and return an answer with the JSON form of the verdict.

        Args:
            program: the program; it is imported first if the process has not imported it.
            call: JSON form of a `ciguard.functions.specs.Call`.
            limit_s: timeout of the call, in seconds.
        """
        return self._request_after_load(program, {"op": "call", "call": call}, limit_s)

    def describe_nested(self, program: ProgramFile, call: Json, *, limit_s: float) -> Answer:
        """Call a function, and return an answer with descriptions of the functions that it defines.

        The arguments are those of `call`.
        """
        return self._request_after_load(program, {"op": "nested", "call": call}, limit_s)

    def _request_after_load(self, program: ProgramFile, request: Json, limit_s: float) -> Answer:
        if not self._has_loaded(program):
            loaded = self.load(program)
            if not self._has_loaded(program):
                return loaded
        message = {**request, "file": str(program.file), "limit_s": limit_s}
        return self.ask(message, limit_s=limit_s)

    def run_as_script(
        self, program: ProgramFile, arguments: Sequence[str], *, limit_s: float
    ) -> Answer:
        """Run a program as the main module in a fresh process; see `call`."""
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
        """Request that the process saves its coverage to one of the `coverage_files`."""
        if self.is_running and self._coverage is not None:
            self.request({"op": "save"}, START_TIMEOUT_S)

    def coverage_files(self) -> list[Path]:
        """Return the paths of the files with the coverage of all processes so far."""
        return sorted(self.folder.glob("coverage.*"))
