"""Strings of a case. A library's messages may quote them, but they do not identify the defect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, DictValue, ListValue, LiteralValue, TupleValue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.values import Value


def texts_in(values: Iterable[Value]) -> tuple[str, ...]:
    """Return all strings in values, including strings in nested values and keys."""
    texts: list[str] = []
    pending: list[Value] = [*values]
    while pending:
        match pending.pop():
            case LiteralValue(str() as text):
                texts.append(text)
            case LiteralValue(bytes() as data):
                texts.append(data.decode("latin-1"))
            case ListValue(items) | TupleValue(items):
                pending.extend(items)
            case DictValue(pairs):
                texts.extend(key for key, _ in pairs)
                pending.extend(value for _, value in pairs)
            case CallValue(_, arguments, keywords):
                pending.extend((*arguments, *(value for _, value in keywords)))
            case _:
                pass  # numbers, arrays, dtypes and members hold no fuzzed text
    return tuple(dict.fromkeys(texts))
