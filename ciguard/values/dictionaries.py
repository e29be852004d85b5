"""Dictionaries as values: with text as keys, or with keys of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import (
    CallValue,
    DictValue,
    ListValue,
    LiteralValue,
    TupleValue,
    Value,
    value_to_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

DICT = "builtins.dict"
"""What makes a dictionary of a list of pairs, where not all keys are text."""


def dictionary(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """Return a dictionary; of two equal keys the first counts."""
    unique: dict[str, tuple[Value, Value]] = {}
    for key, item in pairs:
        unique.setdefault(key_text(key), (key, item))
    found = tuple(unique.values())
    texts = [key.value for key, _ in found if isinstance(key, LiteralValue)]
    if len(texts) == len(found) and all(type(text) is str for text in texts):
        items = zip(texts, (item for _, item in found), strict=True)
        return DictValue(tuple((str(text), item) for text, item in items))
    return CallValue(DICT, (ListValue(tuple(TupleValue(pair) for pair in found)),))


def dictionary_items(value: Value) -> list[tuple[Value, Value]] | None:
    """Return the keys and values of what `dictionary` made; None of anything else."""
    match value:
        case DictValue(items):
            return [(LiteralValue(key), item) for key, item in items]
        case CallValue(function, (ListValue(pairs),)) if function == DICT:
            found = [pair.items for pair in pairs if isinstance(pair, TupleValue)]
            return [(key, item) for key, item in found]
        case _:
            return None


def key_text(key: Value) -> str:
    """Return a text that equal keys share: 1, 1.0 and True are one key."""
    if isinstance(key, LiteralValue) and isinstance(key.value, bool | int | float):
        number = key.value
        return str(int(number)) if number == number // 1 else repr(number)
    return repr(value_to_json(key))
