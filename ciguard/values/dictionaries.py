"""Values for dictionaries whose keys are strings or of any type."""

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
"""Function that creates a dictionary from a list of pairs, for keys that are not all strings."""


def dictionary(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """Return the value of a dictionary. Of several pairs with equal keys, the first one is used."""
    unique: dict[str, tuple[Value, Value]] = {}
    for key, item in pairs:
        unique.setdefault(key_text(key), (key, item))
    entries = tuple(unique.values())
    texts = [key.value for key, _ in entries if isinstance(key, LiteralValue)]
    if len(texts) == len(entries) and all(type(text) is str for text in texts):
        items = zip(texts, (item for _, item in entries), strict=True)
        return DictValue(tuple((str(text), item) for text, item in items))
    return CallValue(DICT, (ListValue(tuple(TupleValue(pair) for pair in entries)),))


def dictionary_items(value: Value) -> list[tuple[Value, Value]] | None:
    """Return the keys and values if `value` is a dictionary; None for other values."""
    match value:
        case DictValue(items):
            return [(LiteralValue(key), item) for key, item in items]
        case CallValue(function, (ListValue(pairs),)) if function == DICT:
            entries = [pair.items for pair in pairs if isinstance(pair, TupleValue)]
            return [(key, item) for key, item in entries]
        case _:
            return None


def key_text(key: Value) -> str:
    """Return a text that is the same for keys that Python treats as equal: 1, 1.0 and True."""
    if isinstance(key, LiteralValue) and isinstance(key.value, bool | int | float):
        number = key.value
        return str(int(number)) if number == number // 1 else repr(number)
    return repr(value_to_json(key))
