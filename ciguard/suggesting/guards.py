"""A function's own checks, `assert` and `if …: raise`, with the branches that they stand in.

Each check is turned into a condition of valid calls. Its parts on one argument and a literal become
clues; other parts become preconditions.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.suggesting.argument_flow import ArgumentFlow
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.suggesting.functions import UnannotatedFunction

_MAX_DIMS = 6
_BUILTINS = {
    *("len", "isinstance", "type", "min", "max", "abs", "all", "any", "sum"),
    *("int", "float", "bool", "str", "list", "tuple", "dict"),
}
_MIRRORED_OPERATORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}


@dataclass(frozen=True, slots=True)
class _Check:
    valid: ast.expr
    """Condition that valid calls fulfil."""
    line: int
    words: str


def guard_clues(subject: UnannotatedFunction, clues: Clues) -> None:
    """Add clues and preconditions from the checks of a function."""
    parameters, bound = set(subject.parameters), ArgumentFlow(subject).bound
    for check in _checks(subject.node.body, []):
        reason = f"line {check.line}: {check.words}"
        changed = {name for name, line in bound.items() if line < check.line}
        for part in conjuncts(check.valid):
            names = names_in(part)
            if not names & parameters or names & changed:
                continue
            if (
                not _add_single_argument(part, parameters, clues, reason)
                and names <= parameters | _BUILTINS
            ):
                clues.requires.append((ast.unparse(part), reason))


def _checks(body: list[ast.stmt], path: list[ast.expr]) -> Iterator[_Check]:
    """Yield the checks of a block that runs if the conditions of `path` hold."""
    conditions = list(path)
    for node in body:
        match node:
            case ast.Assert(test=test):
                yield _Check(
                    _valid_condition(conditions, test), node.lineno, f"assert {ast.unparse(test)}"
                )
            case ast.Raise() if conditions:
                words = f"raise if {' and '.join(map(ast.unparse, conditions))}"
                yield _Check(_valid_condition(conditions, None), node.lineno, words)
            case ast.If(test=test, body=inner, orelse=alternative):
                yield from _checks(inner, [*conditions, test])
                yield from _checks(alternative, [*conditions, negated(test)])
                if isinstance(inner[-1], ast.Return):
                    conditions.append(negated(test))
            case ast.With(body=inner) | ast.For(body=inner) | ast.While(body=inner):
                yield from _checks(inner, conditions)
            case _:
                pass


def _valid_condition(path: list[ast.expr], asserted: ast.expr | None) -> ast.expr:
    """Return the condition that a path is not taken, or that an assertion holds."""
    parts = [negated(item) for item in path] + ([] if asserted is None else [asserted])
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.Or(), parts)


# --- one argument and literals --------------------------------------------------------------------


def _add_single_argument(part: ast.expr, parameters: set[str], clues: Clues, reason: str) -> bool:
    """Add clues from a condition on a single argument; return whether it has that form."""
    match part:
        case ast.BoolOp(op=ast.Or(), values=options):
            return _add_alternatives(options, parameters, clues, reason)
        case ast.Compare(left=left, ops=ops, comparators=right) if len(ops) > 1:
            sides = [left, *right]
            pairs = [
                ast.Compare(left_side, [op], [right_side])
                for left_side, op, right_side in zip(sides, ops, sides[1:], strict=False)
            ]
            # A list, since each comparison has to add its clues.
            return all([_add_single_argument(pair, parameters, clues, reason) for pair in pairs])  # noqa: C419
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _add_comparison((left, right), op, parameters, (clues, reason))
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), types]) if (
            name in parameters
        ):
            return _add_types(name, types, clues, reason)
        case ast.Name(id=name) if name in parameters:
            clues.add(name, ArgumentClueSource.GUARD, NotNone(), reason)
            return True
        case _:
            return False


def _add_alternatives(
    options: list[ast.expr], parameters: set[str], clues: Clues, reason: str
) -> bool:
    """Add clues from alternatives such as `x == 1 or x == 2` and `x is None or x > 0`."""
    arguments = {name for option in options for name in names_in(option) & parameters}
    if len(arguments) != 1:
        return False
    remaining = [option for option in options if not _is_none_test(option)]
    name = arguments.pop()
    if len(remaining) < len(options):
        if len(remaining) != 1 or not _add_single_argument(remaining[0], parameters, clues, reason):
            return False
        clues.add(name, ArgumentClueSource.GUARD, MayBe(Guess(ArgumentKind.NONE)), reason)
        return True
    value_lists = [
        value for option in remaining if (value := _allowed_values(option, name)) is not None
    ]
    if len(value_lists) == len(remaining):
        clues.add(
            name,
            ArgumentClueSource.GUARD,
            Only(tuple(value for values in value_lists for value in values)),
            reason,
        )
        return True
    return False


def _is_none_test(node: ast.expr) -> bool:
    match node:
        case ast.Compare(ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=None)]):
            return True
        case _:
            return False


def _allowed_values(node: ast.expr, name: str) -> tuple[Plain, ...] | None:
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


def _add_comparison(
    sides: tuple[ast.expr, ast.expr], op: ast.cmpop, parameters: set[str], target: tuple[Clues, str]
) -> bool:
    """Add clues from comparing an argument, its length, type or rank with a literal."""
    left, right = sides
    if isinstance(left, ast.Constant) and type(op) in _MIRRORED_OPERATORS:
        left, op, right = right, _MIRRORED_OPERATORS[type(op)](), left
    clues, reason = target
    name, quantity = _compared_quantity(left)
    if name not in parameters:
        return False
    fact: Fact | None = None
    match quantity, op:
        case "value", _:
            fact = _value_fact(op, right)
        case "len", _:
            bounds = range_of_comparison(op, right)
            fact = LengthLimited(bounds.closed()) if bounds else None
        case "type", ast.Is() | ast.Eq():
            return _add_types(name, right, clues, reason)
        case "ndim", ast.Eq():
            fact = _rank_fact(values_in(right))
        case _:
            pass
    if fact is not None:
        clues.add(name, ArgumentClueSource.GUARD, fact, reason)
    return fact is not None


def _compared_quantity(node: ast.expr) -> tuple[str, str]:
    """Return an argument and its compared property: `value`, `len`, `type` or `ndim`."""
    match node:
        case ast.Name(id=name):
            return name, "value"
        case ast.Call(func=ast.Name(id="len" | "type" as quantity), args=[ast.Name(id=name)]):
            return name, quantity
        case ast.Attribute(value=ast.Name(id=name), attr="ndim"):
            return name, "ndim"
        case _:
            return "", ""


def _value_fact(op: ast.cmpop, right: ast.expr) -> Fact | None:
    if isinstance(op, ast.IsNot | ast.NotEq):
        return NotNone() if values_in(right) == (None,) else None
    if isinstance(op, ast.Eq | ast.In):
        values = values_in(right)
        return Only(values) if values else None
    bounds = range_of_comparison(op, right)
    return Limited(bounds) if bounds else None


def _rank_fact(values: tuple[Plain, ...] | None) -> Fact | None:
    match values:
        case (int() as ndim,) if 0 < ndim <= _MAX_DIMS:
            return MayBe(Guess(ArgumentKind.ARRAY, sides=(None,) * ndim))
        case _:
            return None


def _add_types(name: str, types: ast.expr, clues: Clues, reason: str) -> bool:
    for kind in kinds_named(types):
        clues.add(name, ArgumentClueSource.GUARD, MayBe(Guess(kind)), reason)
    return bool(kinds_named(types))


def range_of_comparison(op: ast.cmpop, right: ast.expr) -> NumberRange | None:
    """Return the range of values that fulfil a comparison with a number; else None."""
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
