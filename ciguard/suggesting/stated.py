"""Annotations that a program has already, read as clues for the functions that call it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ANY,
    ArgumentKind,
    Fact,
    Guess,
    LengthLimited,
    Limited,
    MayBe,
    NumberRange,
)
from ciguard.suggesting.conditions import values_in
from ciguard.suggesting.literals import guess_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBERS = {"ints": ArgumentKind.INT, "floats": ArgumentKind.FLOAT}
_PLACES = {
    "ints": ("min", "max"),
    "floats": ("min", "max"),
    "lists": ("items", "min_len", "max_len"),
    "int_lists": ("min_len", "max_len", "min", "max"),
}


def facts_stated(node: ast.expr) -> Iterator[Fact]:
    """Yield what an annotation such as `anys(None, ints(min=1))` says; references say nothing."""
    for guess in _stated(node):
        yield MayBe(guess)
        if guess.bounds != ANY:
            yield Limited(guess.bounds)
        if guess.length != ANY:
            yield LengthLimited(guess.length)


def _stated(node: ast.expr) -> list[Guess]:
    if not isinstance(node, ast.Call):
        guess = guess_of(node)
        return [guess] if guess else []
    kind = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    given = dict(zip(_PLACES.get(kind, ()), node.args, strict=False))
    given |= {item.arg: item.value for item in node.keywords if item.arg}
    match kind:
        case "anys":
            found = [guess for item in node.args for guess in _stated(item)]
        case "froms" if node.args and isinstance(node.args[0], ast.List):
            found = [guess for item in node.args[0].elts if (guess := guess_of(item))]
        case "tuples":
            found = _tuple(node, given)
        case _:
            found = _single(kind, given)
    return found


def _single(kind: str, given: dict[str, ast.expr]) -> list[Guess]:
    if kind in {"lists", "int_lists"}:
        length = _range(given, "min_len", "max_len")
        items = (
            _stated(given["items"])
            if "items" in given
            else [Guess(ArgumentKind.INT, _range(given))]
        )
        return [Guess(ArgumentKind.LIST, items=tuple(items), length=length)]
    simple = _NUMBERS.get(kind)
    if simple is not None:
        return [Guess(simple, _range(given))]
    others = {
        "bools": ArgumentKind.BOOL,
        "np_arrays": ArgumentKind.ARRAY,
        "tensors": ArgumentKind.TENSOR,
    }
    return [Guess(others[kind])] if kind in others else []


def _tuple(node: ast.Call, given: dict[str, ast.expr]) -> list[Guess]:
    items = [_stated(item) for item in node.args]
    if any(len(found) != 1 for found in items):
        return []
    length = _range(given, "min_len", "max_len")
    if length == ANY:
        length = NumberRange(len(items), len(items))
    return [Guess(ArgumentKind.TUPLE, items=tuple(found[0] for found in items), length=length)]


def _range(given: dict[str, ast.expr], least: str = "min", most: str = "max") -> NumberRange:
    ends = [_number(given.get(name)) for name in (least, most)]
    opened = [_is_true(given.get(f"exclude_{name}")) for name in ("min", "max")]
    return NumberRange(ends[0], ends[1], opened[0] and least == "min", opened[1] and most == "max")


def _number(node: ast.expr | None) -> float | None:
    values = values_in(node) if node is not None else None
    match values:
        case (int() | float() as value,):
            return value
        case _:
            return None


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
