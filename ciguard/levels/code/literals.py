"""Conversion of literal arguments between Python text and values."""

from __future__ import annotations

import ast

from ciguard.domain.values import ListValue, LiteralValue, TupleValue, Value


def value_of(text: str) -> Value | None:
    """Return the value of a literal; None for any other expression."""
    try:
        return _value(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _value(literal: object) -> Value | None:
    match literal:
        case None | bool() | int() | float() | str():
            return LiteralValue(literal)
        case tuple() | list():
            items = tuple(item for item in map(_value, literal) if item is not None)
            wrap = TupleValue if isinstance(literal, tuple) else ListValue
            return wrap(items) if len(items) == len(literal) else None
        case _:
            return None


def text_of(value: Value) -> str:
    """Return the Python text of a literal, or of a list or tuple of literals.

    Raises:
        TypeError: if the value is of another kind.
    """
    match value:
        case LiteralValue(scalar):
            return repr(scalar)
        case ListValue(items):
            return f"[{', '.join(map(text_of, items))}]"
        case TupleValue(items):
            inside = ", ".join(map(text_of, items))
            return f"({inside},)" if len(items) == 1 else f"({inside})"
        case _:
            msg = f"{value!r} is not a literal, nor a list or tuple of literals"
            raise TypeError(msg)


def is_same(text: str, other: str | None) -> bool:
    """Return whether two arguments have equal values, or equal texts if they are not literals.

    A list of equal numbers counts as that number, since libraries repeat a number for each
    dimension. The result is False if `other` is None.
    """
    if other is None:
        return False
    value, other_value = value_of(text), value_of(other)
    if value is None or other_value is None:
        return text.strip() == other.strip()
    return _normalised_text(value) == _normalised_text(other_value)


def _normalised_text(value: Value) -> str:
    if isinstance(value, TupleValue | ListValue):
        texts = {text_of(item) for item in value.items}
        return texts.pop() if len(texts) == 1 else f"({', '.join(map(text_of, value.items))})"
    return text_of(value)
