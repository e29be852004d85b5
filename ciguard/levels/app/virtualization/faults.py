"""Faults of a service, made on purpose: it is slow, it refuses, or its answers are odd.

    [[fault]]
    operations = ["label_detection"]   # left out: whatever is asked
    probability = 0.2                  # of each content; left out: 1
    error = "RESOURCE_EXHAUSTED"       # a code of gRPC; or `answer = "nothing"`, "unsure", "many"
    seconds = [0.5, 2]                 # that it takes longer; a number, or a range
    times = 1                          # only the first time that a content is asked about

Which contents are met depends on the content, the operation and the seed alone. All faults that
meet one apply, in their order; the first error is the answer.
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


class Oddity(StrEnum):
    """What becomes of an answer."""

    NOTHING = "nothing"
    """Nothing is recognised; a text has no feeling."""
    UNSURE = "unsure"
    """The same, with low scores."""
    MANY = "many"
    """Its results again and again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault."""

    operations: frozenset[str] = frozenset()
    """Names of those that it meets; none for all."""
    probability: float = 1.0
    answer: Oddity | None = None
    error: Code | None = None
    message: str = ""
    """Of the error; empty for a usual one."""
    seconds: tuple[float, float] = (0.0, 0.0)
    """Least and most that the answer takes longer."""
    times: int = 0
    """How often a content is met; 0 for always."""


def read_faults(file: Path) -> tuple[Fault, ...]:
    """Read the faults of a service, TOML.

    Raises:
        ConfigurationError: if the file cannot be read, or says something else.
    """
    try:
        raw = tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{file}: cannot be read as the faults of a service: {error}"
        raise ConfigurationError(msg) from error
    tables = raw.pop("fault", None)
    if raw or not isinstance(tables, list) or not tables:
        msg = f"{file}: is to hold one table [[fault]] or several, and nothing else."
        raise ConfigurationError(msg)
    known = {one.name for one in answered_operations()}
    return tuple(_FaultReader(file, at, table).fault(known) for at, table in enumerate(tables, 1))


class _FaultReader:
    """Reads one fault, and says where it is not as it should be."""

    def __init__(self, file: Path, at: int, table: Json) -> None:
        self._place = f"{file}: fault {at}"
        if not isinstance(table, dict):
            msg = f"{self._place}: is no table. Write [[fault]] above its keys."
            raise ConfigurationError(msg)
        self._table = table

    def fault(self, known: set[str]) -> Fault:
        for key in self._table:
            if key not in _KEYS:
                msg = f"{self._place}: {key!r:.80}: no such key.{suggestion(key, _KEYS)}"
                raise ConfigurationError(msg)
        fault = Fault(
            operations=self._operations(known),
            probability=float(self._value("probability", 1.0, _is_share, "a number from 0 to 1")),
            answer=self._member("answer", Oddity),
            error=self._member("error", Code),
            message=self._value("message", "", lambda one: isinstance(one, str), "a text"),
            seconds=self._seconds(),
            times=self._value("times", 0, _is_count, "a whole number; 0 is always"),
        )
        if fault.answer is None and fault.error is None and "seconds" not in self._table:
            msg = f"{self._place}: does nothing. Write answer, error or seconds."
            raise ConfigurationError(msg)
        if fault.answer is not None and fault.error is not None:
            msg = f"{self._place}: has both answer and error. Write two faults instead."
            raise ConfigurationError(msg)
        if fault.message and fault.error is None:
            raise self._wrong(key="message", wanted="left out, or have an error beside it")
        return fault

    def _wrong(self, *, key: str, wanted: str) -> ConfigurationError:
        value = self._table.get(key)
        return ConfigurationError(f"{self._place}: {key} = {value!r:.80}: is to be {wanted}.")

    def _operations(self, known: set[str]) -> frozenset[str]:
        several = self._table.get("operations")
        if several is None:
            return frozenset()
        if not isinstance(several, list) or not several:
            raise self._wrong(key="operations", wanted="a list of names, or left out for all")
        for one in several:
            if not isinstance(one, str) or one not in known:
                msg = f"{self._place}: operations: {one!r:.80}: no such operation."
                raise ConfigurationError(msg + suggestion(str(one), known))
        return frozenset(several)

    def _value(self, key: str, usual: Json, is_fine: Callable[[Json], bool], wanted: str) -> Json:
        value = self._table.get(key, usual)
        if not is_fine(value):
            raise self._wrong(key=key, wanted=wanted)
        return value

    def _member(self, key: str, kind: type[_Member]) -> _Member | None:
        value = self._table.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or value not in set(kind):
            raise self._wrong(key=key, wanted=f"one of {', '.join(kind)}")
        return kind(value)

    def _seconds(self) -> tuple[float, float]:
        value = self._table.get("seconds", 0.0)
        least, most = value if isinstance(value, list) and len(value) == len("ab") else (value,) * 2
        if not (_is_number(least) and _is_number(most) and 0 <= least <= most <= _MAX_S):
            wanted = f"a number from 0 to {_MAX_S:g}, or two, the smaller one first"
            raise self._wrong(key="seconds", wanted=wanted)
        return float(least), float(most)


def _is_number(value: object) -> TypeGuard[float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_share(value: object) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
