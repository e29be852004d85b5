"""Reads a function's existing annotations as facts for the functions that call it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ANY,
    ArgumentKind,
    Fact,
    Guess,
    LengthRange,
    NumberRange,
    PossibleValues,
    ValueRange,
)
from ciguard.suggesting.conditions import literal_values
from ciguard.suggesting.literals import guess_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBERS = {"ints": ArgumentKind.INT, "floats": ArgumentKind.FLOAT}
_POSITIONAL_OPTIONS = {
    "ints": ("min", "max"),
    "floats": ("min", "max"),
    "lists": ("items", "min_len", "max_len"),
    "int_lists": ("min_len", "max_len", "min", "max"),
}


def facts_of_annotation(node: ast.expr) -> Iterator[Fact]:
    """Yield the facts that follow from an annotation such as `anys(None, ints(min=1))`.

    No facts follow from references to other arguments.
    """
    for guess in _annotation_guesses(node):
        yield PossibleValues(guess)
        if guess.bounds != ANY:
            yield ValueRange(guess.bounds)
        if guess.length != ANY:
            yield LengthRange(guess.length)


def _annotation_guesses(node: ast.expr) -> list[Guess]:
    """Return guesses for the values that an annotation accepts."""
    if not isinstance(node, ast.Call):
        guess = guess_of(node)
        return [guess] if guess else []
    kind = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    options = dict(zip(_POSITIONAL_OPTIONS.get(kind, ()), node.args, strict=False))
    options |= {item.arg: item.value for item in node.keywords if item.arg}
    match kind:
        case "anys":
            guesses = [guess for item in node.args for guess in _annotation_guesses(item)]
        case "froms" if node.args and isinstance(node.args[0], ast.List):
            guesses = [guess for item in node.args[0].elts if (guess := guess_of(item))]
        case "tuples":
            guesses = _tuple_guesses(node, options)
        case _:
            guesses = _simple_guesses(kind, options)
    return guesses


def _simple_guesses(kind: str, options: dict[str, ast.expr]) -> list[Guess]:
    """Return guesses for an annotation whose items are not constraints, or for a list."""
    if kind in {"lists", "int_lists"}:
        length = _range(options, "min_len", "max_len")
        items = (
            _annotation_guesses(options["items"])
            if "items" in options
            else [Guess(ArgumentKind.INT, _range(options))]
        )
        return [Guess(ArgumentKind.LIST, items=tuple(items), length=length)]
    number_kind = _NUMBERS.get(kind)
    if number_kind is not None:
        return [Guess(number_kind, _range(options))]
    kinds = {
        "bools": ArgumentKind.BOOL,
        "np_arrays": ArgumentKind.ARRAY,
        "tensors": ArgumentKind.TENSOR,
    }
    return [Guess(kinds[kind])] if kind in kinds else []


def _tuple_guesses(node: ast.Call, options: dict[str, ast.expr]) -> list[Guess]:
    """Return the guess for a `tuples` annotation; empty if an item has several kinds."""
    items = [_annotation_guesses(item) for item in node.args]
    if any(len(guesses) != 1 for guesses in items):
        return []
    length = _range(options, "min_len", "max_len")
    if length == ANY:
        length = NumberRange(len(items), len(items))
    return [Guess(ArgumentKind.TUPLE, items=tuple(guesses[0] for guesses in items), length=length)]


def _range(
    options: dict[str, ast.expr], low_name: str = "min", high_name: str = "max"
) -> NumberRange:
    """Return the range that two options of an annotation state."""
    ends = [_number(options.get(name)) for name in (low_name, high_name)]
    is_open = [_is_true(options.get(f"exclude_{name}")) for name in ("min", "max")]
    return NumberRange(
        ends[0], ends[1], is_open[0] and low_name == "min", is_open[1] and high_name == "max"
    )


def _number(node: ast.expr | None) -> float | None:
    values = literal_values(node) if node is not None else None
    match values:
        case (int() | float() as value,):
            return value
        case _:
            return None


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
