"""Conditions split into sub-conditions: the goals that tests reach (Keeper paper, section 3.1)."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.sources import Place

Literal: TypeAlias = str | int | float
OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_COMPARISON = re.compile(r"(?P<operator>[<>]=?) (?P<number>-?\d+(?:\.\d+)?)")
"""Step to the result of a comparison with a number."""
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, slots=True)
class LiteralTest:
    """A comparison with literals."""

    operator: str
    """Operator with the literals on the right; `holds` (or `holds not`) for `literal in x`."""
    literals: tuple[Literal, ...]


@dataclass(frozen=True, slots=True, order=True)
class Branch:
    """A condition at which an application branches."""

    file: str
    line: int
    column: int
    condition: str
    """Source text of the condition, on one line."""
    constant: tuple[str, ...] = ()
    """Sub-conditions that are bare literals, such as `"b"` in `if x == "a" or "b"`."""
    place: Place = (0, 0, 0, 0)
    """Position of the whole condition: first line and column, last line and column."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One sub-condition of a branch."""

    branch: Branch
    index: int
    """Index of the sub-condition within the branch."""
    text: str
    place: Place
    test: LiteralTest | None = None
    """Comparison with literals; None if the sub-condition is another expression."""
    is_condition: bool = True
    """False for the iterable of a loop, the subject of a `match` and elements of `any`."""
    texts: tuple[str, ...] = ()
    """String literals in the sub-condition."""

    def __hash__(self) -> int:  # goals are hashed often, and hashing all fields is slower
        return hash((self.place, self.index))

    @property
    def line(self) -> int:
        """Line on which the sub-condition begins."""
        return self.place[0]


def comparison_of_step(step: str) -> LiteralTest | None:
    """Return the comparison with a number that a step of a flow is; None for any other step."""
    match = _COMPARISON.fullmatch(step)
    return LiteralTest(match["operator"], (float(match["number"]),)) if match else None


def texts_of(sub_condition: ast.expr, test: LiteralTest | None) -> tuple[str, ...]:
    """Return the string literals that a sub-condition compares with; else all that it contains.

    Args:
        sub_condition: the sub-condition.
        test: its comparison with literals, if it is one.
    """
    if test is not None:
        return tuple(text for text in test.literals if isinstance(text, str))
    constants = (node.value for node in ast.walk(sub_condition) if isinstance(node, ast.Constant))
    return tuple(dict.fromkeys(text for text in constants if isinstance(text, str)))


def sub_conditions_of(condition: ast.expr) -> Iterator[ast.expr]:
    """Yield the sub-conditions of `A or not (B and C)`."""
    match condition:
        case ast.BoolOp(values=values):
            for value in values:
                yield from sub_conditions_of(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from sub_conditions_of(operand)
        case _:
            yield condition


def one_line_source(node: ast.AST) -> str:
    """Return the source text of an expression on one line."""
    return " ".join(ast.unparse(node).split())


def test_of(
    sub_condition: ast.expr, constants: Mapping[str, tuple[Literal, ...]]
) -> LiteralTest | None:
    """Return a sub-condition's comparison with literals; None if it is another expression.

    Args:
        sub_condition: the sub-condition.
        constants: the literals that each constant of the module holds, by name.
    """
    match sub_condition:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            operator = OPERATORS[type(op)]
        case _:
            return None
    left_literals, right_literals = (
        literals_or_constant(left, constants),
        literals_or_constant(right, constants),
    )
    if (
        operator in {"in", "not in"}
        and right_literals is not None
        and not _is_collection(right, right_literals)
    ):
        return None  # substring test: `value in "text"`
    if right_literals is not None and left_literals is None:
        return LiteralTest(operator, right_literals)
    if left_literals is None or right_literals is not None:
        return None
    if operator in {"in", "not in"}:
        return LiteralTest("holds" if operator == "in" else "holds not", left_literals)
    return LiteralTest(_MIRRORED[operator], left_literals) if operator in _MIRRORED else None


def _is_collection(node: ast.expr, values: tuple[Literal, ...]) -> bool:
    return isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict) or len(values) > 1


def literals_of(node: ast.expr) -> tuple[Literal, ...] | None:
    """Return a literal, or the sorted items or keys of a collection of literals; else None."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    items = value if isinstance(value, list | tuple | set | frozenset | dict) else [value]
    if not all(isinstance(item, str | int | float) for item in items):
        return None
    return tuple(sorted(items, key=str))


def literals_or_constant(
    node: ast.expr, constants: Mapping[str, tuple[Literal, ...]]
) -> tuple[Literal, ...] | None:
    """Return the literals of an expression or of the constant that it names; else None."""
    return constants.get(node.id) if isinstance(node, ast.Name) else literals_of(node)


def variables_of_literals(
    generators: Iterable[ast.comprehension], constants: Mapping[str, tuple[Literal, ...]]
) -> dict[str, tuple[Literal, ...]]:
    """Return the variables of a comprehension that only have literals, each with its literals.

    Args:
        generators: the parts of the comprehension that bind variables.
        constants: the literals that each constant of the module holds, by name.
    """
    return {
        generator.target.id: literals
        for generator in generators
        if isinstance(generator.target, ast.Name)
        and (literals := literals_or_constant(generator.iter, constants)) is not None
        and _is_collection(generator.iter, literals)
    }
