"""Injected faults of a service: delays, errors and unusual answers.

    [[fault]]
    operations = ["label_detection"]   # default: all operations
    probability = 0.2                  # share of the contents that are affected; default: 1
    error = "RESOURCE_EXHAUSTED"       # a gRPC code; or `answer = "nothing"`, "unsure", "many"
    seconds = [0.5, 2]                 # delay of the answer: a number, or a range
    times = 1                          # only the first request about each content

The content, the operation and the seed determine which contents are affected. All faults that
affect a content apply in the order of the file; the first error is returned.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeGuard, TypeVar

from ciguard.errors import ConfigurationError, suggestion
from ciguard.levels.app.providers.codes import Code
from ciguard.levels.app.providers.registered import answered_operations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.domain.values import Json

_MAX_S = 3600.0
_KEYS = ("operations", "probability", "answer", "error", "message", "seconds", "times")
_Member = TypeVar("_Member", bound=StrEnum)


class Distortion(StrEnum):
    """A way to change an answer."""

    NOTHING = "nothing"
    """An empty result; the sentiment of a text is neutral."""
    UNSURE = "unsure"
    """The same result with low scores."""
    MANY = "many"
    """The same results, repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of the file."""

    operations: frozenset[str] = frozenset()
    """Names of the affected operations; empty for all."""
    probability: float = 1.0
    """Share of the contents that are affected."""
    answer: Distortion | None = None
    """Change of the answer; None for no change."""
    error: Code | None = None
    """Error instead of the answer; None for no error."""
    message: str = ""
    """Message of the error; empty for the default one."""
    seconds: tuple[float, float] = (0.0, 0.0)
    """Minimum and maximum delay of the answer, in seconds."""
    times: int = 0
    """Number of affected requests about each content; 0 for all."""


def read_faults(file: Path) -> tuple[Fault, ...]:
    """Return the faults of a service in a TOML file.

    Raises:
        ConfigurationError: if the file cannot be read or is invalid.
    """
    try:
        raw = tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{file} cannot be read as a list of faults to inject, in TOML: {error}"
        raise ConfigurationError(msg) from error
    tables = raw.pop("fault", None)
    if raw or not isinstance(tables, list) or not tables:
        msg = f"{file} has other keys than `fault`, or no fault. Write only tables [[fault]]."
        raise ConfigurationError(msg)
    known_operations = {operation.name for operation in answered_operations()}
    return tuple(
        _FaultReader(file, number, table).fault(known_operations)
        for number, table in enumerate(tables, 1)
    )


class _FaultReader:
    """Reads one table of the file; each error names the file, the table and the key."""

    def __init__(self, file: Path, number: int, table: Json) -> None:
        self._place = f"{file}: fault {number}"
        if not isinstance(table, dict):
            msg = f"{self._place} is not a table. Write [[fault]] above its keys."
            raise ConfigurationError(msg)
        self._table = table

    def fault(self, known_operations: set[str]) -> Fault:
        """Return the fault of the table; `known_operations` has the names of all operations."""
        for key in self._table:
            if key not in _KEYS:
                msg = f"{self._place}: the key {key!r:.80} is unknown.{suggestion(key, _KEYS)}"
                raise ConfigurationError(msg)
        fault = Fault(
            operations=self._operations(known_operations),
            probability=float(self._value("probability", 1.0, _is_share, "a number from 0 to 1")),
            answer=self._member("answer", Distortion),
            error=self._member("error", Code),
            message=self._value("message", "", lambda value: isinstance(value, str), "a text"),
            seconds=self._seconds(),
            times=self._value("times", 0, _is_count, "an integer of 0 or more (0: all requests)"),
        )
        if fault.answer is None and fault.error is None and "seconds" not in self._table:
            msg = f"{self._place} has no effect. Add the key `answer`, `error` or `seconds`."
            raise ConfigurationError(msg)
        if fault.answer is not None and fault.error is not None:
            msg = f"{self._place} has both `answer` and `error`. Write two faults instead."
            raise ConfigurationError(msg)
        if fault.message and fault.error is None:
            msg = f"{self._place}: `message` has no effect without `error`. Add `error`."
            raise ConfigurationError(msg)
        return fault

    def _wrong(self, *, key: str, wanted: str) -> ConfigurationError:
        value = self._table.get(key)
        return ConfigurationError(f"{self._place}: {key} has to be {wanted}, not {value!r:.80}.")

    def _operations(self, known_operations: set[str]) -> frozenset[str]:
        operations = self._table.get("operations")
        if operations is None:
            return frozenset()
        if not isinstance(operations, list) or not operations:
            raise self._wrong(key="operations", wanted="a list of operations' names")
        for name in operations:
            if not isinstance(name, str) or name not in known_operations:
                msg = f"{self._place}: operations: {name!r:.80} is not a known operation."
                raise ConfigurationError(msg + suggestion(str(name), known_operations))
        return frozenset(operations)

    def _value(
        self, key: str, default: Json, is_valid: Callable[[Json], bool], wanted: str
    ) -> Json:
        value = self._table.get(key, default)
        if not is_valid(value):
            raise self._wrong(key=key, wanted=wanted)
        return value

    def _member(self, key: str, kind: type[_Member]) -> _Member | None:
        """Return the enumeration member that is the value of a key; None if the key is missing."""
        value = self._table.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or value not in set(kind):
            raise self._wrong(key=key, wanted=f"one of {', '.join(kind)}")
        return kind(value)

    def _seconds(self) -> tuple[float, float]:
        """Return the minimum and the maximum delay."""
        value = self._table.get("seconds", 0.0)
        minimum, maximum = (
            value if isinstance(value, list) and len(value) == len("ab") else (value,) * 2
        )
        if not (_is_number(minimum) and _is_number(maximum) and 0 <= minimum <= maximum <= _MAX_S):
            wanted = f"a number from 0 to {_MAX_S:g}, or a list of two, the smaller first"
            raise self._wrong(key="seconds", wanted=wanted)
        return float(minimum), float(maximum)


def _is_number(value: object) -> TypeGuard[float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_share(value: object) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
