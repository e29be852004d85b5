"""Clues from a function's own checks, `assert` and `if …: raise`, in any branch.

Each check is turned into a condition that valid calls fulfil. If a part of the condition compares
one argument with a literal, it becomes a clue; other parts become preconditions.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.suggesting.argument_flow import ArgumentFlow
from ciguard.suggesting.clues import (
    AllowedValues,
    ArgumentClueSource,
    ArgumentKind,
    Clues,
    Fact,
    Guess,
    LengthRange,
    NotNone,
    NumberRange,
    PlainValue,
    PossibleValues,
    PowersOfTwo,
    ValueRange,
)
from ciguard.suggesting.conditions import (
    conjuncts,
    kinds_of_types,
    literal_values,
    names_in,
    negate,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.suggesting.functions import UnannotatedFunction

_MAX_DIMS = 6
"""Maximum number of dimensions of an array that a check may require."""
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
    condition: ast.expr
    """Condition that valid calls fulfil."""
    line: int
    """Line number of the check, from 1."""
    text: str
    """The check as shown in reasons."""


def guard_clues(subject: UnannotatedFunction, clues: Clues) -> None:
    """Add the clues and preconditions that follow from a function's checks to `clues`."""
    parameters = set(subject.parameters)
    rebinding_lines = ArgumentFlow(subject).rebinding_lines
    for check in _checks(subject.node.body, []):
        reason = f"line {check.line}: {check.text}"
        changed = {name for name, line in rebinding_lines.items() if line < check.line}
        for part in conjuncts(check.condition):
            names = names_in(part)
            if not names & parameters or names & changed:
                continue
            if (
                not _add_single_argument(part, parameters, clues, reason)
                and names <= parameters | _BUILTINS
            ):
                clues.requires.append((ast.unparse(part), reason))


def _checks(body: list[ast.stmt], path: list[ast.expr]) -> Iterator[_Check]:
    """Yield the checks of a block.

    Args:
        body: statements of the block.
        path: conditions under which the block runs.
    """
    conditions = list(path)
    for node in body:
        match node:
            case ast.Assert(test=test):
                yield _Check(
                    _valid_condition(conditions, test), node.lineno, f"assert {ast.unparse(test)}"
                )
            case ast.Raise() if conditions:
                text = f"raise if {' and '.join(map(ast.unparse, conditions))}"
                yield _Check(_valid_condition(conditions, None), node.lineno, text)
            case ast.If(test=test, body=inner, orelse=alternative):
                yield from _checks(inner, [*conditions, test])
                yield from _checks(alternative, [*conditions, negate(test)])
                if isinstance(inner[-1], ast.Return):
                    conditions.append(negate(test))
            case ast.With(body=inner) | ast.For(body=inner) | ast.While(body=inner):
                yield from _checks(inner, conditions)
            case _:
                pass


def _valid_condition(path: list[ast.expr], asserted: ast.expr | None) -> ast.expr:
    """Return the condition under which a call passes a check.

    Args:
        path: conditions under which the check is reached; a call passes if one does not hold.
        asserted: asserted condition; None for `raise`.
    """
    parts = [negate(item) for item in path] + ([] if asserted is None else [asserted])
    return parts[0] if len(parts) == 1 else ast.BoolOp(ast.Or(), parts)


# --- conditions on one argument and literals ------------------------------------------------------


def _add_single_argument(part: ast.expr, parameters: set[str], clues: Clues, reason: str) -> bool:
    """Add clues from a condition on one argument; return whether the condition was understood."""
    match part:
        case ast.BoolOp(op=ast.Or(), values=options):
            return _add_alternatives(options, parameters, clues, reason)
        case ast.Compare(left=left, ops=ops, comparators=right) if len(ops) > 1:
            sides = [left, *right]
            pairs = [
                ast.Compare(left_side, [op], [right_side])
                for left_side, op, right_side in zip(sides, ops, sides[1:], strict=False)
            ]
            # A list and not a generator, so that every comparison adds its clues.
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


def _power_of_two(node: ast.expr) -> str:
    """Return the name that must be a power of two if a comparison holds; else an empty text."""
    match node:
        case ast.Compare(
            left=ast.BinOp(
                left=ast.Name(id=name),
                op=ast.BitAnd(),
                right=ast.BinOp(left=ast.Name(id=other), op=ast.Sub(), right=ast.Constant(value=1)),
            ),
            ops=[ast.Eq()],
            comparators=[ast.Constant(value=0)],
        ) if name == other:
            return name
        case _:
            return ""


def _add_alternatives(
    options: list[ast.expr], parameters: set[str], clues: Clues, reason: str
) -> bool:
    """Add clues from alternatives such as `x == 1 or x == 2` and `x is None or x > 0`.

    Return whether the alternatives were understood.
    """
    arguments = {name for option in options for name in names_in(option) & parameters}
    if len(arguments) != 1:
        return False
    remaining = [option for option in options if not _is_none_test(option)]
    name = arguments.pop()
    if len(remaining) < len(options):
        if len(remaining) != 1 or not _add_single_argument(remaining[0], parameters, clues, reason):
            return False
        clues.add(name, ArgumentClueSource.GUARD, PossibleValues(Guess(ArgumentKind.NONE)), reason)
        return True
    value_lists = [
        value for option in remaining if (value := _allowed_values(option, name)) is not None
    ]
    if len(value_lists) == len(remaining):
        clues.add(
            name,
            ArgumentClueSource.GUARD,
            AllowedValues(tuple(value for values in value_lists for value in values)),
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


def _allowed_values(node: ast.expr, name: str) -> tuple[PlainValue, ...] | None:
    """Return the values of an argument for which a condition holds; None if they are unknown."""
    match node:
        case ast.Compare(left=ast.Name(id=left), ops=[ast.Eq()], comparators=[right]) if (
            left == name
        ):
            value = literal_values(right)
            return value if value and len(value) == 1 else None
        case ast.Compare(left=ast.Name(id=left), ops=[ast.In()], comparators=[right]) if (
            left == name
        ):
            return literal_values(right)
        case _:
            return None


def _add_comparison(
    sides: tuple[ast.expr, ast.expr], op: ast.cmpop, parameters: set[str], target: tuple[Clues, str]
) -> bool:
    """Add clues from the comparison of an argument, its length, type or rank with a literal.

    Args:
        sides: left and right operand.
        op: operator of the comparison.
        parameters: names of the function's parameters.
        target: where to add the clues, and their reason.

    Returns:
        Whether the comparison was understood.
    """
    left, right = sides
    if isinstance(left, ast.Constant) and type(op) in _MIRRORED_OPERATORS:
        left, op, right = right, _MIRRORED_OPERATORS[type(op)](), left
    clues, reason = target
    power = _power_of_two(ast.Compare(left, [op], [right]))
    if power in parameters:
        for power_fact in (PossibleValues(Guess(ArgumentKind.INT)), PowersOfTwo()):
            clues.add(power, ArgumentClueSource.GUARD, power_fact, reason)
        return True
    name, quantity = _compared_quantity(left)
    if name not in parameters:
        return False
    fact: Fact | None = None
    match quantity, op:
        case "value", _:
            fact = _value_fact(op, right)
        case "len", _:
            bounds = range_of_comparison(op, right)
            fact = LengthRange(bounds.integer_range()) if bounds else None
        case "type", ast.Is() | ast.Eq():
            return _add_types(name, right, clues, reason)
        case "ndim", ast.Eq():
            fact = _rank_fact(literal_values(right))
        case _:
            pass
    if fact is not None:
        clues.add(name, ArgumentClueSource.GUARD, fact, reason)
    return fact is not None


def _compared_quantity(node: ast.expr) -> tuple[str, str]:
    """Return the name of an argument and its compared property: `value`, `len`, `type` or `ndim`.

    Both are empty for other expressions.
    """
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
        return NotNone() if literal_values(right) == (None,) else None
    if isinstance(op, ast.Eq | ast.In):
        values = literal_values(right)
        return AllowedValues(values) if values else None
    bounds = range_of_comparison(op, right)
    return ValueRange(bounds) if bounds else None


def _rank_fact(values: tuple[PlainValue, ...] | None) -> Fact | None:
    match values:
        case (int() as ndim,) if 0 < ndim <= _MAX_DIMS:
            return PossibleValues(Guess(ArgumentKind.ARRAY, shape=(None,) * ndim))
        case _:
            return None


def _add_types(name: str, types: ast.expr, clues: Clues, reason: str) -> bool:
    for kind in kinds_of_types(types):
        clues.add(name, ArgumentClueSource.GUARD, PossibleValues(Guess(kind)), reason)
    return bool(kinds_of_types(types))


def range_of_comparison(op: ast.cmpop, right: ast.expr) -> NumberRange | None:
    """Return the range of the values that fulfil a comparison.

    Args:
        op: operator of the comparison.
        right: right operand.

    Returns:
        None if the right operand is not a number, or the values are not a range.
    """
    values = literal_values(right)
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
