"""Type hints, defaults and names: what a function's head says of its arguments."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ANY,
    Bounds,
    Clue,
    Guess,
    Kind,
    Limited,
    MayBe,
    Source,
)
from ciguard.suggesting.literals import guess_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.suggesting.functions import Subject

_SIMPLE = {
    "int": Kind.INT,
    "float": Kind.FLOAT,
    "bool": Kind.BOOL,
    "ndarray": Kind.ARRAY,
    "NDArray": Kind.ARRAY,
    "Tensor": Kind.TENSOR,
}
_LISTS = {"list", "List", "Sequence", "Iterable"}
_POSITIVE = Bounds(1)
_NATURAL = Bounds(0)
_SHARE = Bounds(0, 1)
_COUNTED = (
    *("epochs?", "units", "filters", "depth", "layers", "channels", "classes", "steps?", "length"),
    *("width", "height", "size", "heads", "hidden", "batch", "stride", "kernel", "patience", "k"),
    *("folds?", "n", "features", "stages", "levels", "steps_per_epoch", r"(n|num|nb|max|min)_\w+"),
    r"\w+_(size|dims?|count|len|length|channels|classes|units|filters|layers|features|steps)",
    r"\w+_(epochs|blocks|heads)",
)
_NAMES: tuple[tuple[str, Kind, Bounds], ...] = (
    (r"(use|is|has|with|return|apply)_\w+|verbose|training|shuffle|bias|debug", Kind.BOOL, ANY),
    (r"(random_)?seed|epoch|index|idx|axis|pad(ding)?|warmup|start", Kind.INT, _NATURAL),
    ("|".join(_COUNTED), Kind.INT, _POSITIVE),
    (r"(\w+_)?(dropout|probability|prob|fraction|ratio|momentum|drop_rate)", Kind.FLOAT, _SHARE),
    (
        r"lr|learning_rate|(weight_)?decay|eps|epsilon|alpha|beta|gamma|\w*rate",
        Kind.FLOAT,
        _NATURAL,
    ),
)


def head_clues(subject: Subject, constants: Mapping[str, ast.expr]) -> Iterator[Clue]:
    """Yield what the head of a function says.

    Args:
        subject: the function.
        constants: of its module.
    """
    line = subject.node.lineno
    defaults = subject.defaults
    for name, item in subject.parameters.items():
        for guess in _hinted(item.annotation):
            text = ast.unparse(item.annotation) if item.annotation else ""
            yield Clue(name, Source.HINT, MayBe(guess), f"line {line}: type hint {text}")
        default = guess_of(defaults.get(name), constants)
        if default is not None:
            shown = ast.unparse(defaults[name])
            yield Clue(name, Source.DEFAULT, MayBe(default), f"line {line}: default {shown}")
        yield from _named(name)


def _named(name: str) -> Iterator[Clue]:
    for pattern, kind, bounds in _NAMES:
        if re.fullmatch(pattern, name.lower()):
            reason = f"its name, {name}"
            yield Clue(name, Source.NAME, MayBe(Guess(kind)), reason)
            if bounds != ANY:
                yield Clue(name, Source.NAME, Limited(bounds), reason)
            return


def _hinted(node: ast.expr | None) -> list[Guess]:
    match node:
        case None:
            return []
        case ast.Constant(value=None):
            return [Guess(Kind.NONE)]
        case ast.Constant(value=str() as text):
            return _quoted(text)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return [*_hinted(left), *_hinted(right)]
        case ast.Subscript(value=value, slice=inner):
            return _generic(_last(value), inner)
        case _:
            kind = _SIMPLE.get(_last(node))
            return [Guess(kind)] if kind else []


def _quoted(text: str) -> list[Guess]:
    try:
        return _hinted(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return []


def _generic(outer: str, inner: ast.expr) -> list[Guess]:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    found: list[Guess] = []
    if outer == "Optional":
        found = [*_hinted(inner), Guess(Kind.NONE)]
    elif outer == "Union":
        found = [guess for part in parts for guess in _hinted(part)]
    elif outer == "Literal":
        found = [guess for part in parts if (guess := guess_of(part)) is not None]
    elif outer in _LISTS:
        items = tuple(_hinted(inner))
        found = [Guess(Kind.LIST, items=items)] if items else []
    elif outer in {"tuple", "Tuple"}:
        found = _tuple(parts)
    elif outer in _SIMPLE:
        found = [Guess(_SIMPLE[outer])]
    return found


def _tuple(parts: list[ast.expr]) -> list[Guess]:
    items = [_hinted(part) for part in parts]
    if any(len(found) != 1 for found in items):
        return []  # `tuple[int, ...]`, or items that may be several things
    length = Bounds(len(items), len(items))
    return [Guess(Kind.TUPLE, items=tuple(found[0] for found in items), length=length)]


def _last(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
