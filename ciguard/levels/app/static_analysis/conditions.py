"""Conditions taken apart: each sub-condition is a goal of its own (Keeper, section 3.1)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.sources import Place

Literal: TypeAlias = str | int | float
OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class LiteralTest:
    """A comparison with literals."""

    operator: str
    """As if the literal were on the right; `holds` for a literal that is looked for in the rest."""
    literals: tuple[Literal, ...]


@dataclass(frozen=True, slots=True, order=True)
class Branch:
    """Where an application decides something."""

    file: str
    line: int
    column: int
    condition: str
    """As the application has it, on one line."""
    constant: tuple[str, ...] = ()
    """Sub-conditions that are texts or numbers: nothing is compared with them."""
    place: Place = (0, 0, 0, 0)
    """Of the whole condition."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One sub-condition of a branch."""

    branch: Branch
    at: int
    """Its place among them."""
    text: str
    place: Place
    test: LiteralTest | None = None
    """None where it is no comparison with literals."""
    is_condition: bool = True
    """False of what a loop goes over, or a `match` looks at."""
    texts: tuple[str, ...] = ()
    """That it compares with, or that stand in it otherwise."""

    def __hash__(self) -> int:  # of few that are alike, and asked for often
        return hash((self.place, self.at))

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.place[0]


def texts_of(part: ast.expr, test: LiteralTest | None) -> tuple[str, ...]:
    """Return the texts that a sub-condition compares with, or that stand in it otherwise.

    Args:
        part: the sub-condition.
        test: what it compares with literals.
    """
    if test is not None:
        return tuple(one for one in test.literals if isinstance(one, str))
    constants = (node.value for node in ast.walk(part) if isinstance(node, ast.Constant))
    return tuple(dict.fromkeys(one for one in constants if isinstance(one, str)))


def parts(condition: ast.expr) -> Iterator[ast.expr]:
    """Yield the sub-conditions of `A or not (B and C)`."""
    match condition:
        case ast.BoolOp(values=values):
            for value in values:
                yield from parts(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from parts(operand)
        case _:
            yield condition


def written(node: ast.AST) -> str:
    """Return an expression as one line."""
    return " ".join(ast.unparse(node).split())


def test_of(part: ast.expr, constants: Mapping[str, tuple[Literal, ...]]) -> LiteralTest | None:
    """Return what a sub-condition compares with literals; None if it does something else.

    Args:
        part: of a condition.
        constants: lists of literals by the name of the module's variable.
    """
    match part:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            operator = OPERATORS[type(op)]
        case _:
            return None
    before, after = literals(left, constants), literals(right, constants)
    if operator in {"in", "not in"} and after is not None and not _is_list(right, after):
        return None  # a label is looked for in a text
    if after is not None and before is None:
        return LiteralTest(operator, after)
    if before is None or after is not None:
        return None
    if operator in {"in", "not in"}:
        return LiteralTest("holds" if operator == "in" else "holds not", before)
    return LiteralTest(_MIRRORED[operator], before) if operator in _MIRRORED else None


def _is_list(node: ast.expr, held: tuple[Literal, ...]) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict) or len(held) > 1


def literals_of(node: ast.expr) -> tuple[Literal, ...] | None:
    """Return the literals of one, or of several in a list or as keys; None for anything else."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    several = value if isinstance(value, list | tuple | set | frozenset | dict) else [value]
    if not all(isinstance(one, str | int | float) for one in several):
        return None
    return tuple(sorted(several, key=str))


def literals(
    node: ast.expr, constants: Mapping[str, tuple[Literal, ...]]
) -> tuple[Literal, ...] | None:
    """Return the literals of an expression, or of the module's variable that it is; else None."""
    return constants.get(node.id) if isinstance(node, ast.Name) else literals_of(node)
