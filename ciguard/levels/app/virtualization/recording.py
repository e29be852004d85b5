"""Records the answers of a service, and replays them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError, ConfigurationError
from ciguard.levels.app.input_synthesis.inputs import digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import Field
from ciguard.levels.app.providers.registered import PROVIDERS
from ciguard.levels.app.virtualization.engine import EngineWrapper
from ciguard.levels.app.virtualization.records import AnswerRecord, Key, append_line, read_records

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.virtualization.engine import Engine


class NotRecordedError(CiguardError):
    """A recording has no answer for a request."""

    def __init__(self, file: Path, operation: Operation, digest: str) -> None:
        """Build the message.

        Args:
            file: file of the recording.
            operation: the requested operation.
            digest: digest of the request's content.
        """
        super().__init__(
            f"{file}: no answer of {operation.title} is recorded for the content with digest "
            f"{digest}. The input or the request has changed. Record the answers of the service "
            "again."
        )
        self.operation = operation
        self.digest = digest


@dataclass(frozen=True, slots=True)
class ReplayEngine:
    """Replays a recording, and refuses all other requests.

    Raises:
        ConfigurationError: if the file cannot be read, or a line is invalid.
    """

    file: Path
    _records: dict[Key, AnswerRecord] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_records", read_records(self.file))

    @property
    def name(self) -> str:
        """Name in reports: the names of the engines whose answers are recorded."""
        engines = sorted({record.engine for record in self._records.values()})
        return f"recording of {', '.join(engines) or 'nothing'}"

    @property
    def is_simulated(self) -> bool:
        """True if any of its answers was simulated."""
        return any(record.is_simulated for record in self._records.values())

    def serves(self, operation: Operation) -> bool:
        """Return whether the recording has an answer of the operation."""
        requested = (operation.provider, operation.name)
        return any(key[:2] == requested for key in self._records)

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return the recorded answer; see `Engine`.

        Raises:
            NotRecordedError: if the recording has no answer for the content.
            ConfigurationError: if the answer does not have the fields of the operation.
        """
        key = _key(operation, content)
        if key not in self._records:
            raise NotRecordedError(self.file, operation, key[2])
        outcome = self._records[key].outcome
        if isinstance(outcome, ServiceError):
            raise ServiceError(outcome.code, outcome.message)
        if not _are_results(operation, outcome):
            results = ".".join(operation.results_path) or "results"
            msg = (
                f"{self.file}: the recorded answer of {operation.title} for the content with "
                f"digest {key[2]} has invalid {results}. "
                "Delete the line, or record the answer again."
            )
            raise ConfigurationError(msg)
        return json.loads(json.dumps(outcome))


def _are_results(operation: Operation, answer: Json) -> bool:
    """Return whether the list of results in an answer has the right type.

    Only answers of providers whose descriptions have the service's field names are checked. The
    clients of other providers parse whole answers, and themselves report invalid ones.
    """
    if isinstance(answer, list) is not bool(operation.records and not operation.results_path):
        return False
    if not PROVIDERS.get(operation.provider).is_described_as_sent:
        return True
    results = answer.get(operation.records, [])
    score = (operation.fields or {}).get(Field.SCORE, "")
    return isinstance(results, list) and all(
        isinstance(result, dict) and isinstance(result.get(score, 0), int | float)
        for result in results
    )


def _key(operation: Operation, content: bytes) -> Key:
    return operation.provider, operation.name, digest_of(content)


@dataclass(frozen=True, slots=True)
class RecordingEngine(EngineWrapper):
    """Wraps an engine, and records its answers and errors in a file.

    Raises:
        ConfigurationError: if the file exists and is invalid.
    """

    file: Path
    _lines: dict[Key, bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        records = read_records(self.file) if self.file.exists() else {}
        lines = {key: record.line() for key, record in records.items()}
        object.__setattr__(self, "_lines", lines)

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return the engine's answer after writing it to the file; see `Engine`.

        Raises:
            ConfigurationError: if the file cannot be written.
        """
        try:
            answer = self.engine.answer(operation, content)
        except ServiceError as error:
            self.keep(operation, content, error)
            raise
        self.keep(operation, content, answer)
        return answer

    def keep(self, operation: Operation, content: bytes, outcome: Json | ServiceError) -> None:
        """Record an answer or an error.

        Args:
            operation: the requested operation.
            content: content of the request.
            outcome: the answer, or the error.

        Raises:
            ConfigurationError: if the file cannot be written.
        """
        record = AnswerRecord(_key(operation, content), self.name, self.is_simulated, outcome)
        line = record.line()
        if self._lines.get(record.key) == line:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            append_line(self.file, line)
        except OSError as error:
            msg = f"{self.file} cannot be written: {error.strerror}. Choose another file."
            raise ConfigurationError(msg) from error
        self._lines[record.key] = line


def with_recording(file: Path | None, engines: Iterable[Engine]) -> tuple[Engine, ...]:
    """Return engines that record their answers in a file; without a file, the given engines.

    Raises:
        ConfigurationError: if the file exists and is invalid.
    """
    return tuple(engines if file is None else (RecordingEngine(engine, file) for engine in engines))
