"""Clues from default values: the kind of value, and a range around it that probably works."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import Clue, ClueSource, Structure
from ciguard.knowledge.expressions import literal

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord

_DTYPE = re.compile(
    r"(?:<dtype: '|torch\.|tf\.|jt\.|numpy\.|np\.)(b?float\d+|u?int\d+|bool|complex\d+)\b"
)
_MAX_CACHED_TEXTS = 4096
_RANGE_ABOVE_DEFAULT = 3
"""Distance of the upper limit from an ordinary default."""
_MAX_ORDINARY_DEFAULT = 16
"""Largest magnitude of an ordinary default; larger ones are special: `ignore_index=-100`."""


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Return the clue that the `repr` of a parameter's default value contains; empty if none."""
    del record
    text = parameter.default
    clue = _clue_of(text) if isinstance(text, str) else None
    return [clue] if clue else []


@lru_cache(maxsize=_MAX_CACHED_TEXTS)
def _clue_of(text: str) -> Clue | None:
    if _DTYPE.match(text):
        return Clue(source=ClueSource.DEFAULT, evidence=text, structures=(Structure.DTYPE,))
    try:
        return _clue(literal(text), text)
    except ValueError:
        return None


def _clue(value: object, text: str) -> Clue | None:
    """Return the clue for a default value; None for a value of an unknown type."""
    match value:
        case None:
            return Clue(source=ClueSource.DEFAULT, evidence=text, nullable=True)
        case bool():
            return Clue(source=ClueSource.DEFAULT, evidence=text, structures=(Structure.BOOL,))
        case int():
            return _int_clue(value, text)
        case float():
            return _float_clue(value, text)
        case str():
            return _text_clue(value, text)
        case _:
            return _list_clue(list(value), text) if isinstance(value, tuple | list) else None


def _text_clue(value: str, text: str) -> Clue:
    # Only the default is known to work; any other string may be rejected.
    return Clue(
        source=ClueSource.DEFAULT,
        evidence=text,
        structures=(Structure.STRING,),
        allowed=(LiteralValue(value),),
    )


def _int_clue(value: int, text: str) -> Clue:
    """Return the clue for an int default, with a range that contains it."""
    if abs(value) > _MAX_ORDINARY_DEFAULT:
        low, high = min(value, 0), max(value, 0)
    else:
        low, high = min(value, 1) if value >= 0 else value, value + _RANGE_ABOVE_DEFAULT
    return Clue(
        source=ClueSource.DEFAULT, evidence=text, structures=(Structure.INT,), low=low, high=high
    )


def _float_clue(value: float, text: str) -> Clue:
    """Return the clue for a float default, with a range that contains it."""
    high = 1.0 if 0 <= value <= 1 else abs(value) * 2
    low = 0.0 if value >= 0 else -high
    return Clue(
        source=ClueSource.DEFAULT,
        evidence=text,
        structures=(Structure.FLOAT,),
        low=low,
        high=high,
    )


def _list_clue(items: list[object], text: str) -> Clue | None:
    """Return the clue for a list of ints or floats; None for other lists."""
    length = (len(items), len(items)) if items else None
    if all(type(item) is int for item in items):
        numbers = [item for item in items if isinstance(item, int)]
        low = min(numbers, default=0)
        return Clue(
            source=ClueSource.DEFAULT,
            evidence=text,
            structures=(Structure.INTS,),
            length=length,
            low=low,
            high=max(numbers, default=0) + 1 if numbers else None,
        )
    if all(isinstance(item, float) for item in items):
        return Clue(
            source=ClueSource.DEFAULT, evidence=text, structures=(Structure.FLOATS,), length=length
        )
    return None
