"""Contradictions: sub-conditions that other conditions make constant, as z3 proves.

A proof covers one condition and those before it in the same `elif` chain. No statement runs between
the conditions of a chain, so that equal expressions have equal values.
"""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import z3

from ciguard.levels.app.dead_conditions.dead_code import DeadCondition, DeadConditionCause, range_of
from ciguard.levels.app.static_analysis.conditions import literals_of, one_line_source
from ciguard.levels.app.static_analysis.values import ValueFlow
from ciguard.sources import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.findings import ServiceCondition, ServiceFunction
    from ciguard.sources import Place

Term: TypeAlias = Any
"""A term of z3, a package without type annotations."""
_SOLVER_LIMIT_MS = 2_000
_TOLERANCE = z3.Q(1, 10**5)
"""Tolerance for the rounding errors of computed numbers."""
_MAX_STEP_LENGTH = 60
_PURE_METHODS = frozenset({"lower", "upper", "strip", "casefold", "title", "capitalize"})
_PURE_NODES = (
    ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp,
    ast.List, ast.Tuple, ast.Set, ast.Subscript, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
    ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Assumption:
    """A sub-condition whose truth value is known where another one is evaluated."""

    text: str
    line: int
    term: Term
    outcome: bool


def contradictions(application: Application, function: ServiceFunction) -> Iterator[DeadCondition]:
    """Yield sub-conditions of a function and its callees that other conditions make constant.

    Args:
        application: the parsed application.
        function: the function.
    """
    by_file: dict[str, dict[Place, ServiceCondition]] = {}
    for condition in function.goals:
        goal = condition.goal
        if goal.is_condition:
            by_file.setdefault(goal.branch.file, {})[goal.place] = condition
    for module in application.modules:
        goals = by_file.get(module.file, {})
        if not goals:
            continue
        statements = [statement for routine in module.routines for statement in routine.body]
        nodes = {id(node): node for statement in statements for node in ast.walk(statement)}
        for chain in _chains(list(nodes.values())):
            yield from _ChainProver(goals).constant_conditions(chain)


def _chains(nodes: Sequence[ast.AST]) -> Iterator[list[ast.expr]]:
    """Yield conditions that are evaluated in a row, with no statement in between."""
    following = {
        id(node.orelse[0])
        for node in nodes
        if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
    }
    for node in nodes:
        if isinstance(node, ast.If) and id(node) not in following:
            chain, last = [node.test], node
            while len(last.orelse) == 1 and isinstance(last.orelse[0], ast.If):
                last = last.orelse[0]
                chain.append(last.test)
            yield chain
        elif isinstance(node, ast.While | ast.IfExp | ast.Assert):
            yield [node.test]
        elif isinstance(node, ast.comprehension):
            yield from ([test] for test in node.ifs)


class _ChainProver:
    """Prover of constant sub-conditions in one chain of conditions."""

    def __init__(self, goals: Mapping[Place, ServiceCondition]) -> None:
        self._goals = goals
        self._variables: dict[str, Term] = {}
        self._ranges: dict[str, tuple[float, float]] = {}

    def constant_conditions(self, conditions: Sequence[ast.expr]) -> Iterator[DeadCondition]:
        assumptions: list[_Assumption] = []
        for condition in conditions:
            if not _is_pure(condition):
                return
            yield from self._constant_parts(condition, assumptions, is_whole=len(assumptions) == 0)
            term = self._truth(condition)
            if term is not None:
                assumptions.append(
                    _Assumption(one_line_source(condition), condition.lineno, term, outcome=False)
                )

    def _constant_parts(
        self, node: ast.expr, assumptions: Sequence[_Assumption], *, is_whole: bool
    ) -> Iterator[DeadCondition]:
        """Yield the sub-conditions of a condition that are constant under assumptions.

        Args:
            node: a condition, or a part of a condition.
            assumptions: the truth values of the conditions that are evaluated before.
            is_whole: whether the whole condition is true if this part is true.
        """
        match node:
            case ast.BoolOp(op=op, values=values):
                is_and = isinstance(op, ast.And)
                known = list(assumptions)
                for value in values:
                    yield from self._constant_parts(value, known, is_whole=is_whole and not is_and)
                    term = self._truth(value)
                    if term is not None:
                        known.append(
                            _Assumption(one_line_source(value), value.lineno, term, outcome=is_and)
                        )
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._constant_parts(operand, assumptions, is_whole=False)
            case _:
                condition = self._goals.get(place_of(node))
                term = self._truth(node)
                if condition is not None and term is not None:
                    yield from self._verdict(condition, term, assumptions, is_whole=is_whole)

    def _verdict(
        self,
        condition: ServiceCondition,
        term: Term,
        assumptions: Sequence[_Assumption],
        *,
        is_whole: bool,
    ) -> Iterator[DeadCondition]:
        for verdict, formula in (("never", term), ("always", z3.Not(term))):
            if verdict == "always" and not is_whole:
                continue  # a redundant condition is harmless
            solver = z3.Solver()
            solver.set("timeout", _SOLVER_LIMIT_MS)
            solver.add(*self._domain())
            for index, assumption in enumerate(assumptions):
                solver.assert_and_track(
                    _with_tolerance(assumption.term, holds=assumption.outcome), f"held {index}"
                )
            if solver.check() != z3.sat:
                return  # never evaluated, as an earlier condition is constant and reported
            solver.add(_with_tolerance(formula, holds=True))
            if solver.check() == z3.unsat:
                core = {str(label).strip("|") for label in solver.unsat_core()}
                needed = [
                    assumption
                    for index, assumption in enumerate(assumptions)
                    if f"held {index}" in core
                ]
                goal, reason = condition.goal, self._reason(verdict, needed)
                yield DeadCondition(
                    goal.branch,
                    goal.text,
                    DeadConditionCause.CONTRADICTION,
                    reason,
                    place=goal.place,
                )
                return

    def _reason(self, verdict: str, assumed: Sequence[_Assumption]) -> str:
        if not assumed:
            minimum, maximum = next(iter(self._ranges.values()), (0, 0))
            return f"{verdict}: the service returns scores from {minimum:g} to {maximum:g}"
        assumptions = " and ".join(
            f"{known.text} (line {known.line}) is already {str(known.outcome).lower()}"
            for known in assumed
        )
        return f"{verdict} at this point: {assumptions}"

    def _domain(self) -> list[Term]:
        bounds = []
        for name, (minimum, maximum) in self._ranges.items():
            variable = self._variables[name]
            bounds.append(
                z3.And(variable >= minimum - _TOLERANCE, variable <= maximum + _TOLERANCE)
            )
        return bounds

    # --- terms ------------------------------------------------------------------------------------

    def _truth(self, node: ast.expr) -> Term | None:
        """Return the term of a condition; None if a part of it is not supported."""
        match node:
            case ast.BoolOp(op=op, values=values):
                terms = [self._truth(value) for value in values]
                if any(term is None for term in terms):
                    return None
                return z3.And(*terms) if isinstance(op, ast.And) else z3.Or(*terms)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                negand = self._truth(operand)
                return None if negand is None else z3.Not(negand)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(node, left, op, right)
            case _:
                return None

    def _comparison(
        self, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr
    ) -> Term | None:
        members = literals_of(right) if isinstance(op, ast.In | ast.NotIn) else None
        if isinstance(op, ast.In | ast.NotIn):
            if not members or not isinstance(right, ast.List | ast.Tuple | ast.Set):
                return None
            values = [self._pair(left, ast.Constant(member)) for member in members]
            if any(pair is None for pair in values):
                return None
            membership = z3.Or(*[a == b for a, b in filter(None, values)])
            return z3.Not(membership) if isinstance(op, ast.NotIn) else membership
        pair = self._pair(left, right)
        if pair is None or type(op) not in _ORDERS:
            return None
        if z3.is_string(pair[0]) and not isinstance(op, ast.Eq | ast.NotEq):
            return None
        if not z3.is_string(pair[0]):
            self._store_range(node)
        return _ORDERS[type(op)](*pair)

    def _pair(self, left: ast.expr, right: ast.expr) -> tuple[Term, Term] | None:
        """Return the terms of both sides of a comparison with a literal; None if unsupported."""
        for side, other in ((left, right), (right, left)):
            value = literals_of(other)
            if value is None or len(value) != 1 or isinstance(value[0], bool):
                continue
            if isinstance(other, ast.List | ast.Tuple | ast.Set | ast.Dict):
                continue
            literal = _literal(value[0])
            term = self._value(side, is_text=z3.is_string(literal))
            if term is not None:
                return (term, literal) if side is left else (literal, term)
        return None

    def _value(self, node: ast.expr, *, is_text: bool) -> Term | None:
        """Return the term of a value; None if unsupported. Equal expressions share one variable."""
        arithmetic = None
        if isinstance(node, ast.BinOp) and not is_text:
            arithmetic = self._arithmetic(node)
        if arithmetic is not None:
            return arithmetic
        if isinstance(node, ast.Constant):
            value = node.value
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return None if is_text or not is_number else z3.RealVal(str(value))
        if isinstance(node, ast.UnaryOp | ast.Compare | ast.BoolOp):
            return None
        name = ast.unparse(node)
        variable = z3.Const(name, z3.StringSort() if is_text else z3.RealSort())
        known = self._variables.setdefault(name, variable)
        return known if z3.is_string(known) == is_text else None

    def _arithmetic(self, node: ast.BinOp) -> Term | None:  # noqa: PLR0911 - one return for each operator
        if not isinstance(node.left, ast.Constant) and not isinstance(node.right, ast.Constant):
            return None
        a, b = self._value(node.left, is_text=False), self._value(node.right, is_text=False)
        if a is None or b is None:
            return None
        match node.op:
            case ast.Add():
                return a + b
            case ast.Sub():
                return a - b
            case ast.Mult():
                return a * b
            case ast.Div() if isinstance(node.right, ast.Constant) and node.right.value:
                return a / b
            case _:
                return None

    def _store_range(self, node: ast.Compare) -> None:
        """Store the range of the score in a comparison, where it may be part of an expression."""
        condition = self._goals.get(place_of(node))
        leaves = [leaf for side in (node.left, *node.comparators) for leaf in _leaves(side)]
        names = {ast.unparse(leaf) for leaf in leaves}
        if condition is None or len(names) != 1:
            return
        steps = tuple(one_line_source(part)[:_MAX_STEP_LENGTH] for part in _arithmetic_parts(node))
        ranges = {_range_before(flow, steps) for flow in condition.flows}
        value_range = ranges.pop() if len(ranges) == 1 else None
        if value_range is not None:
            self._ranges[names.pop()] = value_range


def _literal(value: float | str) -> Term:
    if isinstance(value, str):
        return z3.StringVal(value)
    return z3.RealVal(str(Fraction(repr(float(value)))))


def _range_before(flow: ValueFlow, steps: tuple[str, ...]) -> tuple[float, float] | None:
    """Return the range of a score before arithmetic steps; None if the flow has other steps."""
    before = flow.steps[: len(flow.steps) - 1 - len(steps)]
    if flow.steps[len(before) : -1] != steps:
        return None
    return range_of(ValueFlow(flow.source, (*before, flow.steps[-1])))


def _leaves(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp):
        yield from _leaves(node.left)
        yield from _leaves(node.right)
    elif literals_of(node) is None:
        yield node


def _arithmetic_parts(node: ast.expr) -> Iterator[ast.BinOp]:
    """Yield arithmetic expressions, the innermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _arithmetic_parts(child)
    if isinstance(node, ast.BinOp):
        yield node


def _is_pure(node: ast.expr) -> bool:
    """Return whether evaluating a condition twice gives the same value without side effects."""
    match node:
        case ast.Call(func=ast.Name(id="len" | "abs"), args=[operand], keywords=[]):
            return _is_pure(operand)
        case ast.Call(func=ast.Attribute(value=operand, attr=name), args=[], keywords=[]):
            return name in _PURE_METHODS and _is_pure(operand)
        case _:
            children = ast.iter_child_nodes(node)
            return isinstance(node, _PURE_NODES) and all(
                _is_pure(child) for child in children if isinstance(child, ast.expr)
            )


def _with_tolerance(term: Term, *, holds: bool) -> Term:
    """Return the term for a truth value of a condition, with tolerance for computed numbers."""
    kind, children = term.decl().kind(), term.children()
    if kind == z3.Z3_OP_NOT:
        return _with_tolerance(children[0], holds=not holds)
    if kind in {z3.Z3_OP_AND, z3.Z3_OP_OR}:
        operands = [_with_tolerance(child, holds=holds) for child in children]
        return z3.And(*operands) if (kind == z3.Z3_OP_AND) is holds else z3.Or(*operands)
    exact = term if holds else z3.Not(term)
    if not any(_is_computed(child) for child in children) or not z3.is_real(children[0]):
        return exact
    a, b = children
    tolerance = _TOLERANCE * 100
    if kind == z3.Z3_OP_EQ:
        return z3.And(a - b <= tolerance, b - a <= tolerance) if holds else z3.BoolVal(val=True)
    if kind == z3.Z3_OP_DISTINCT:
        return z3.BoolVal(val=True) if holds else z3.And(a - b <= tolerance, b - a <= tolerance)
    is_less = kind in {z3.Z3_OP_LE, z3.Z3_OP_LT}
    return a <= b + tolerance if is_less is holds else a + tolerance >= b


def _is_computed(term: Term) -> bool:
    return term.decl().kind() in {z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_MUL, z3.Z3_OP_DIV}


_ORDERS: dict[type[ast.cmpop], Callable[[Term, Term], Term]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
