"""Clues in a function's signature: type hints, defaults and parameter names."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ANY,
    ArgumentClue,
    ArgumentClueSource,
    ArgumentKind,
    Axis,
    Guess,
    NumberRange,
    PossibleValues,
    ValueRange,
)
from ciguard.suggesting.literals import guess_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.suggesting.functions import UnannotatedFunction

_KINDS_BY_TYPE = {
    "int": ArgumentKind.INT,
    "float": ArgumentKind.FLOAT,
    "bool": ArgumentKind.BOOL,
    "ndarray": ArgumentKind.ARRAY,
    "NDArray": ArgumentKind.ARRAY,
    "Tensor": ArgumentKind.TENSOR,
}
_LIST_TYPES = {"list", "List", "Sequence", "Iterable"}
_POSITIVE = NumberRange(1)
_NATURAL = NumberRange(0)
_FRACTION = NumberRange(0, 1)
_SIZE_PATTERNS = (
    *("epochs?", "units", "filters", "depth", "layers", "channels", "classes", "steps?", "length"),
    *("width", "height", "size", "heads", "hidden", "batch", "stride", "kernel", "patience", "k"),
    *("folds?", "n", "features", "stages", "levels", "steps_per_epoch", r"(n|num|nb|max|min)_\w+"),
    r"\w+_(size|dims?|count|len|length|channels|classes|units|filters|layers|features|steps)",
    r"\w+_(epochs|blocks|heads)",
)
_NAME_PATTERNS: tuple[tuple[str, ArgumentKind, NumberRange], ...] = (
    (
        r"(use|is|has|with|return|apply)_\w+|verbose|training|shuffle|bias|debug",
        ArgumentKind.BOOL,
        ANY,
    ),
    ("axis", ArgumentKind.INT, ANY),
    (r"(random_)?seed|epoch|index|idx|pad(ding)?|warmup|start", ArgumentKind.INT, _NATURAL),
    ("|".join(_SIZE_PATTERNS), ArgumentKind.INT, _POSITIVE),
    (
        r"(\w+_)?(dropout|probability|prob|fraction|ratio|momentum|drop_rate)",
        ArgumentKind.FLOAT,
        _FRACTION,
    ),
    (
        r"lr|learning_rate|(weight_)?decay|eps|epsilon|alpha|beta|gamma|\w*rate",
        ArgumentKind.FLOAT,
        _NATURAL,
    ),
)


def signature_clues(
    subject: UnannotatedFunction, constants: Mapping[str, ast.expr]
) -> Iterator[ArgumentClue]:
    """Yield the clues in a function's signature.

    Args:
        subject: the function.
        constants: expressions of the module's constants, by name.
    """
    line = subject.node.lineno
    defaults = subject.defaults
    for name, item in subject.parameters.items():
        for guess in _hint_guesses(item.annotation):
            text = ast.unparse(item.annotation) if item.annotation else ""
            yield ArgumentClue(
                name,
                ArgumentClueSource.HINT,
                PossibleValues(guess),
                f"line {line}: type hint {text}",
            )
        default = guess_of(defaults.get(name), constants)
        if default is not None:
            default_text = ast.unparse(defaults[name])
            yield ArgumentClue(
                name,
                ArgumentClueSource.DEFAULT,
                PossibleValues(default),
                f"line {line}: default {default_text}",
            )
        yield from _name_clues(name)


def _name_clues(name: str) -> Iterator[ArgumentClue]:
    """Yield the clues in a parameter's name."""
    for pattern, kind, bounds in _NAME_PATTERNS:
        if re.fullmatch(pattern, name.lower()):
            reason = f"the name {name}"
            yield ArgumentClue(name, ArgumentClueSource.NAME, PossibleValues(Guess(kind)), reason)
            if bounds != ANY:
                yield ArgumentClue(name, ArgumentClueSource.NAME, ValueRange(bounds), reason)
            if name == "axis":
                yield ArgumentClue(name, ArgumentClueSource.NAME, Axis(""), reason)
            return


def _hint_guesses(node: ast.expr | None) -> list[Guess]:
    """Return guesses for the values that a type hint allows; empty if they are unknown."""
    match node:
        case None:
            return []
        case ast.Constant(value=None):
            return [Guess(ArgumentKind.NONE)]
        case ast.Constant(value=str() as text):
            return _string_hint_guesses(text)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return [*_hint_guesses(left), *_hint_guesses(right)]
        case ast.Subscript(value=value, slice=inner):
            return _generic_guesses(_last_name(value), inner)
        case _:
            kind = _KINDS_BY_TYPE.get(_last_name(node))
            return [Guess(kind)] if kind else []


def _string_hint_guesses(text: str) -> list[Guess]:
    try:
        return _hint_guesses(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return []


def _generic_guesses(outer: str, inner: ast.expr) -> list[Guess]:
    """Return guesses for a generic type hint, such as `list[int]`."""
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    guesses: list[Guess] = []
    if outer == "Optional":
        guesses = [*_hint_guesses(inner), Guess(ArgumentKind.NONE)]
    elif outer == "Union":
        guesses = [guess for part in parts for guess in _hint_guesses(part)]
    elif outer == "Literal":
        guesses = [guess for part in parts if (guess := guess_of(part)) is not None]
    elif outer in _LIST_TYPES:
        items = tuple(_hint_guesses(inner))
        guesses = [Guess(ArgumentKind.LIST, items=items)] if items else []
    elif outer in {"tuple", "Tuple"}:
        guesses = _tuple_guesses(parts)
    elif outer in _KINDS_BY_TYPE:
        guesses = [Guess(_KINDS_BY_TYPE[outer], dtype=_dtype(inner))]
    return guesses


def _dtype(node: ast.expr) -> str:
    """Return the dtype in a hint such as `NDArray[np.int64]`; empty if it is none."""
    name = _last_name(node).rstrip("_")
    name = {"int": "int64", "integer": "int64", "intp": "int64"}.get(name, name)
    return name if re.fullmatch(r"bool|(?:u?int|float|complex)\d+", name) else ""


def _tuple_guesses(parts: list[ast.expr]) -> list[Guess]:
    items = [_hint_guesses(part) for part in parts]
    if any(len(guesses) != 1 for guesses in items):
        return []  # `tuple[int, ...]`, or an item whose kind is unknown or ambiguous
    length = NumberRange(len(items), len(items))
    return [Guess(ArgumentKind.TUPLE, items=tuple(guesses[0] for guesses in items), length=length)]


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
