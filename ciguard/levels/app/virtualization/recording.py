"""Asks a service once, and answers from a file from then on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError, ConfigurationError
from ciguard.levels.app.input_synthesis.inputs import digest_of
from ciguard.levels.app.providers.codes import ServiceError
from ciguard.levels.app.providers.description import Field
from ciguard.levels.app.providers.registered import PROVIDERS
from ciguard.levels.app.virtualization.engine import Passing
from ciguard.levels.app.virtualization.records import AnswerRecord, Key, append_line, read_records

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.virtualization.engine import Engine


class NotRecordedError(CiguardError):
    """A question has no answer in a recording."""

    def __init__(self, file: Path, operation: Operation, digest: str) -> None:
        """Make it.

        Args:
            file: of the recording.
            operation: that was asked.
            digest: of the content.
        """
        super().__init__(
            f"{file}: holds no answer of {operation.title} about content {digest}: the input or "
            "the question has changed since. Record it again, with access to the service."
        )
        self.operation = operation
        self.digest = digest


@dataclass(frozen=True, slots=True)
class Recorded:
    """Answers what was recorded, and nothing else.

    Raises:
        ConfigurationError: if the file cannot be read, or a line of it is damaged.
    """

    file: Path
    _records: dict[Key, AnswerRecord] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_records", read_records(self.file))

    @property
    def name(self) -> str:
        """How reports call it: by the engines that were recorded."""
        engines = sorted({record.engine for record in self._records.values()})
        return f"recording of {', '.join(engines) or 'nothing'}"

    @property
    def is_simulated(self) -> bool:
        """Whether any of its answers were made up."""
        return any(record.is_simulated for record in self._records.values())

    def serves(self, operation: Operation) -> bool:
        """Return whether it holds any answer of an operation."""
        asked = (operation.provider, operation.name)
        return any(key[:2] == asked for key in self._records)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return the recorded answer; see `Engine`.

        Raises:
            NotRecordedError: if the question was not.
            ConfigurationError: if somebody has made an answer of it that no service gives.
        """
        key = _key(operation, about)
        if key not in self._records:
            raise NotRecordedError(self.file, operation, key[2])
        outcome = self._records[key].outcome
        if isinstance(outcome, ServiceError):
            raise ServiceError(outcome.code, outcome.message)
        if not _are_results(operation, outcome):
            results = ".".join(operation.way) or "results"
            msg = (
                f"{self.file}: the answer of {operation.title} about content {key[2]} has other "
                f"{results} than the service's. Delete the line, or record it again."
            )
            raise ConfigurationError(msg)
        return json.loads(json.dumps(outcome))


def _are_results(operation: Operation, answer: Json) -> bool:
    """Return whether an answer is a list where it should be, and results are such.

    The results are looked at where descriptions name them as the service does. Other clients read
    answers whole, and say themselves what does not fit.
    """
    if isinstance(answer, list) is not bool(operation.records and not operation.way):
        return False
    if not PROVIDERS.get(operation.provider).is_described_as_sent:
        return True
    found = answer.get(operation.records, [])
    score = (operation.fields or {}).get(Field.SCORE, "")
    return isinstance(found, list) and all(
        isinstance(one, dict) and isinstance(one.get(score, 0), int | float) for one in found
    )


def _key(operation: Operation, about: bytes) -> Key:
    return operation.provider, operation.name, digest_of(about)


@dataclass(frozen=True, slots=True)
class Recording(Passing):
    """Asks another engine, and keeps what it answers, errors too.

    Raises:
        ConfigurationError: if the file is there and damaged.
    """

    file: Path
    _kept: dict[Key, bytes] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        records = read_records(self.file) if self.file.exists() else {}
        kept = {key: record.line() for key, record in records.items()}
        object.__setattr__(self, "_kept", kept)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return the engine's answer, after it is safely in the file; see `Engine`.

        Raises:
            ConfigurationError: if the file cannot be written.
        """
        try:
            answer = self.engine.answer(operation, about)
        except ServiceError as error:
            self.keep(operation, about, error)
            raise
        self.keep(operation, about, answer)
        return answer

    def keep(self, operation: Operation, about: bytes, outcome: Json | ServiceError) -> None:
        """Write an answer, or an error, that is there already.

        Args:
            operation: that was asked.
            about: what it was asked about.
            outcome: what it has answered.

        Raises:
            ConfigurationError: if the file cannot be written.
        """
        record = AnswerRecord(_key(operation, about), self.name, self.is_simulated, outcome)
        line = record.line()
        if self._kept.get(record.key) == line:
            return
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            append_line(self.file, line)
        except OSError as error:
            msg = f"{self.file}: cannot be written: {error.strerror}. Record to another place."
            raise ConfigurationError(msg) from error
        self._kept[record.key] = line


def kept_in(file: Path | None, engines: Iterable[Engine]) -> tuple[Engine, ...]:
    """Return engines whose answers are kept in a file; the same ones if there is none.

    Raises:
        ConfigurationError: if the file is there and damaged.
    """
    return tuple(engines if file is None else (Recording(one, file) for one in engines))
