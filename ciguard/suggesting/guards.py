"""What a function checks itself: `assert`, and `if …: raise`, under the branches that they are in.

A check becomes the condition of valid calls. Its parts that concern one argument and a literal
become clues, the others preconditions.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.suggesting.clues import (
    ArgumentClueSource,
    ArgumentKind,
    Clues,
    Fact,
    Guess,
    LengthLimited,
    Limited,
    MayBe,
    NotNone,
    NumberRange,
    Only,
    Plain,
)
from ciguard.suggesting.conditions import conjuncts, kinds_named, names_in, negated, values_in
from ciguard.suggesting.given import ArgumentFlow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.suggesting.functions import UnannotatedFunction

_MAX_DIMS = 6
_BUILTINS = {
    *("len", "isinstance", "type", "min", "max", "abs", "all", "any", "sum"),
    *("int", "float", "bool", "str", "list", "tuple", "dict"),
}
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}


@dataclass(frozen=True, slots=True)
class _Check:
    valid: ast.expr
    """What holds in valid calls."""
    line: int
    words: str


def guard_clues(subject: UnannotatedFunction, clues: Clues) -> None:
    """Note what the checks of a function say of its arguments."""
    own, bound = set(subject.parameters), ArgumentFlow(subject).bound
    for check in _checks(subject.node.body, []):
        reason = f"line {check.line}: {check.words}"
        changed = {name for name, line in bound.items() if line < check.line}
        for part in conjuncts(check.valid):
            names = names_in(part)
            if not names & own or names & changed:
                continue
            if not _of_one(part, own, clues, reason) and names <= own | _BUILTINS:
                clues.requires.append((ast.unparse(part), reason))


def _checks(body: list[ast.stmt], path: list[ast.expr]) -> Iterator[_Check]:
    """Yield the checks of a block that is reached where the conditions of `path` hold."""
    held = list(path)
    for node in body:
        match node:
            case ast.Assert(test=test):
                yield _Check(_unless(held, test), node.lineno, f"assert {ast.unparse(test)}")
            case ast.Raise() if held:
                words = f"raise where {' and '.join(map(ast.unparse, held))}"
                yield _Check(_unless(held, None), node.lineno, words)
            case ast.If(test=test, body=inner, orelse=other):
                yield from _checks(inner, [*held, test])
                yield from _checks(other, [*held, negated(test)])
                if isinstance(inner[-1], ast.Return):
                    held.append(negated(test))
            case ast.With(body=inner) | ast.For(body=inner) | ast.While(body=inner):
                yield from _checks(inner, held)
            case _:
                pass


def _unless(path: list[ast.expr], wanted: ast.expr | None) -> ast.expr:
    """Return: one of these conditions fails, or what is wanted holds."""
    parts = [negated(item) for item in path] + ([] if wanted is None else [wanted])
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.Or(), parts)


# --- one argument and literals --------------------------------------------------------------------


def _of_one(part: ast.expr, own: set[str], clues: Clues, reason: str) -> bool:
    """Note what a condition says of one argument alone; False if it is of no such form."""
    match part:
        case ast.BoolOp(op=ast.Or(), values=options):
            return _either(options, own, clues, reason)
        case ast.Compare(left=left, ops=ops, comparators=right) if len(ops) > 1:
            sides = [left, *right]
            pairs = [
                ast.Compare(one, [op], [other])
                for one, op, other in zip(sides, ops, sides[1:], strict=False)
            ]
            # Asked of each of them, although one that fails decides.
            return all([_of_one(pair, own, clues, reason) for pair in pairs])  # noqa: C419
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared((left, right), op, own, (clues, reason))
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), types]) if (
            name in own
        ):
            return _typed(name, types, clues, reason)
        case ast.Name(id=name) if name in own:
            clues.add(name, ArgumentClueSource.GUARD, NotNone(), reason)
            return True
        case _:
            return False


def _either(options: list[ast.expr], own: set[str], clues: Clues, reason: str) -> bool:
    """Note `x == 1 or x == 2`, `x is None or x > 0`, `isinstance(x, int) or isinstance(…)`."""
    about = {name for option in options for name in names_in(option) & own}
    if len(about) != 1:
        return False
    rest = [option for option in options if not _is_none(option)]
    name = about.pop()
    if len(rest) < len(options):
        if len(rest) != 1 or not _of_one(rest[0], own, clues, reason):
            return False
        clues.add(name, ArgumentClueSource.GUARD, MayBe(Guess(ArgumentKind.NONE)), reason)
        return True
    listed = [value for option in rest if (value := _equalled(option, name)) is not None]
    if len(listed) == len(rest):
        clues.add(
            name,
            ArgumentClueSource.GUARD,
            Only(tuple(value for one in listed for value in one)),
            reason,
        )
        return True
    return False


def _is_none(node: ast.expr) -> bool:
    match node:
        case ast.Compare(ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]):
            return True
        case _:
            return False


def _equalled(node: ast.expr, name: str) -> tuple[Plain, ...] | None:
    match node:
        case ast.Compare(left=ast.Name(id=left), ops=[ast.Eq()], comparators=[right]) if (
            left == name
        ):
            value = values_in(right)
            return value if value and len(value) == 1 else None
        case ast.Compare(left=ast.Name(id=left), ops=[ast.In()], comparators=[right]) if (
            left == name
        ):
            return values_in(right)
        case _:
            return None


def _compared(
    sides: tuple[ast.expr, ast.expr], op: ast.cmpop, own: set[str], told: tuple[Clues, str]
) -> bool:
    """Note what a comparison with a literal says: of an argument, its length, type or rank."""
    left, right = sides
    if isinstance(left, ast.Constant) and type(op) in _MIRRORED:
        left, op, right = right, _MIRRORED[type(op)](), left
    clues, reason = told
    name, asked = _asked(left)
    if name not in own:
        return False
    fact: Fact | None = None
    match asked, op:
        case "value", _:
            fact = _of_value(op, right)
        case "len", _:
            bounds = bounds_of(op, right)
            fact = LengthLimited(bounds.closed()) if bounds else None
        case "type", ast.Is() | ast.Eq():
            return _typed(name, right, clues, reason)
        case "ndim", ast.Eq():
            fact = _of_rank(values_in(right))
        case _:
            pass
    if fact is not None:
        clues.add(name, ArgumentClueSource.GUARD, fact, reason)
    return fact is not None


def _asked(node: ast.expr) -> tuple[str, str]:
    """Return an argument, and what of it is compared: `value`, `len`, `type`, `ndim`."""
    match node:
        case ast.Name(id=name):
            return name, "value"
        case ast.Call(func=ast.Name(id="len" | "type" as asked), args=[ast.Name(id=name)]):
            return name, asked
        case ast.Attribute(value=ast.Name(id=name), attr="ndim"):
            return name, "ndim"
        case _:
            return "", ""


def _of_value(op: ast.cmpop, right: ast.expr) -> Fact | None:
    if isinstance(op, ast.IsNot | ast.NotEq):
        return NotNone() if values_in(right) == (None,) else None
    if isinstance(op, ast.Eq | ast.In):
        values = values_in(right)
        return Only(values) if values else None
    bounds = bounds_of(op, right)
    return Limited(bounds) if bounds else None


def _of_rank(values: tuple[Plain, ...] | None) -> Fact | None:
    match values:
        case (int() as ndim,) if 0 < ndim <= _MAX_DIMS:
            return MayBe(Guess(ArgumentKind.ARRAY, sides=(None,) * ndim))
        case _:
            return None


def _typed(name: str, types: ast.expr, clues: Clues, reason: str) -> bool:
    for kind in kinds_named(types):
        clues.add(name, ArgumentClueSource.GUARD, MayBe(Guess(kind)), reason)
    return bool(kinds_named(types))


def bounds_of(op: ast.cmpop, right: ast.expr) -> NumberRange | None:
    """Return the range of what compares so with a number; None if it is none."""
    values = values_in(right)
    if not values or len(values) != 1:
        return None
    number = values[0]
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    match op:
        case ast.Lt() | ast.LtE():
            return NumberRange(high=number, open_high=isinstance(op, ast.Lt))
        case ast.Gt() | ast.GtE():
            return NumberRange(low=number, open_low=isinstance(op, ast.Gt))
        case ast.Eq():
            return NumberRange(number, number)
        case _:
            return None
