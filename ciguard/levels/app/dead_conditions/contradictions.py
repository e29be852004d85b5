"""Sub-conditions that no number or text can turn, together with those beside and before them.

Proved over what stands in one condition, and in the conditions of the same `elif` chain before it:
nothing is done in between, so that an expression is the same each time that it stands there.
"""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import z3

from ciguard.levels.app.dead_conditions.dead_code import Dead, DeadConditionCause, range_of
from ciguard.levels.app.static_analysis.conditions import literals_of, written
from ciguard.levels.app.static_analysis.values import ValueFlow
from ciguard.sources import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.findings import ServiceCondition, ServiceFunction
    from ciguard.sources import Place

Term: TypeAlias = Any
"""Of z3, which has no types."""
_LIMIT_MS = 2_000
_SLACK = z3.Q(1, 10**5)
"""Numbers that are computed are not that exact."""
_MAX_STEP_LENGTH = 60
_OF_TEXTS = frozenset({"lower", "upper", "strip", "casefold", "title", "capitalize"})
_PLAIN = (
    ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp,
    ast.List, ast.Tuple, ast.Set, ast.Subscript, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
    ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Held:
    """A sub-condition of which it is known how it turned out."""

    text: str
    line: int
    term: Term
    outcome: bool


def contradictions(application: Application, found: ServiceFunction) -> Iterator[Dead]:
    """Yield sub-conditions of a function and what it calls that are always the same.

    Args:
        application: as read.
        found: of the function.
    """
    by_file: dict[str, dict[Place, ServiceCondition]] = {}
    for one in found.goals:
        if one.goal.is_condition:
            by_file.setdefault(one.goal.branch.file, {})[one.goal.place] = one
    for module in application.modules:
        goals = by_file.get(module.file, {})
        if not goals:
            continue
        statements = [statement for one in module.routines for statement in one.body]
        nodes = {id(node): node for one in statements for node in ast.walk(one)}
        for chain in _chains(list(nodes.values())):
            yield from _Chain(goals).judged(chain)


def _chains(every: Sequence[ast.AST]) -> Iterator[list[ast.expr]]:
    """Yield the conditions that are asked one after the other, with nothing done in between."""
    following = {
        id(node.orelse[0])
        for node in every
        if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
    }
    for node in every:
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


class _Chain:
    """Conditions, one after the other."""

    def __init__(self, goals: Mapping[Place, ServiceCondition]) -> None:
        self._goals = goals
        self._sorts: dict[str, Term] = {}
        self._ranges: dict[str, tuple[float, float]] = {}

    def judged(self, conditions: Sequence[ast.expr]) -> Iterator[Dead]:
        before: list[_Held] = []
        for condition in conditions:
            if not _is_plain(condition):
                return
            yield from self._parts(condition, before, is_whole=len(before) == 0)
            term = self._truth(condition)
            if term is not None:
                before.append(_Held(written(condition), condition.lineno, term, outcome=False))

    def _parts(self, node: ast.expr, held: Sequence[_Held], *, is_whole: bool) -> Iterator[Dead]:
        """Yield what is always the same, with what is known when it is looked at.

        Args:
            node: a condition or part of one.
            held: how others turned out before it.
            is_whole: whether all of it is true if this is.
        """
        match node:
            case ast.BoolOp(op=op, values=values):
                is_and = isinstance(op, ast.And)
                known = list(held)
                for value in values:
                    yield from self._parts(value, known, is_whole=is_whole and not is_and)
                    term = self._truth(value)
                    if term is not None:
                        known.append(_Held(written(value), value.lineno, term, outcome=is_and))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._parts(operand, held, is_whole=False)
            case _:
                decided = self._goals.get(place_of(node))
                term = self._truth(node)
                if decided is not None and term is not None:
                    yield from self._verdict(decided, term, held, is_whole=is_whole)

    def _verdict(
        self, decided: ServiceCondition, term: Term, held: Sequence[_Held], *, is_whole: bool
    ) -> Iterator[Dead]:
        for verdict, sought in (("never", term), ("always", z3.Not(term))):
            if verdict == "always" and not is_whole:
                continue  # that is one condition more than needed, and no harm
            solver = z3.Solver()
            solver.set("timeout", _LIMIT_MS)
            solver.add(*self._domain())
            for at, one in enumerate(held):
                solver.assert_and_track(_slack(one.term, holds=one.outcome), f"held {at}")
            if solver.check() != z3.sat:
                return  # it is not looked at: what comes before it is told
            solver.add(_slack(sought, holds=True))
            if solver.check() == z3.unsat:
                core = {str(one).strip("|") for one in solver.unsat_core()}
                those = [one for at, one in enumerate(held) if f"held {at}" in core]
                goal, reason = decided.goal, self._reason(verdict, those)
                yield Dead(
                    goal.branch,
                    goal.text,
                    DeadConditionCause.CONTRADICTION,
                    reason,
                    place=goal.place,
                )
                return

    def _reason(self, verdict: str, held: Sequence[_Held]) -> str:
        if not held:
            least, most = next(iter(self._ranges.values()), (0, 0))
            return f"{verdict}: the service answers from {least:g} to {most:g}"
        told = " and ".join(
            f"{one.text} (line {one.line}) is {str(one.outcome).lower()}" for one in held
        )
        return f"{verdict}, where it is looked at: {told} by then"

    def _domain(self) -> list[Term]:
        found = []
        for name, (least, most) in self._ranges.items():
            variable = self._sorts[name]
            found.append(z3.And(variable >= least - _SLACK, variable <= most + _SLACK))
        return found

    # --- terms ------------------------------------------------------------------------------------

    def _truth(self, node: ast.expr) -> Term | None:
        """Return the term of a condition; None if it is not understood whole."""
        match node:
            case ast.BoolOp(op=op, values=values):
                terms = [self._truth(one) for one in values]
                if any(one is None for one in terms):
                    return None
                return z3.And(*terms) if isinstance(op, ast.And) else z3.Or(*terms)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._truth(operand)
                return None if inner is None else z3.Not(inner)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._comparison(node, left, op, right)
            case _:
                return None

    def _comparison(
        self, node: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr
    ) -> Term | None:
        held = literals_of(right) if isinstance(op, ast.In | ast.NotIn) else None
        if isinstance(op, ast.In | ast.NotIn):
            if not held or not isinstance(right, ast.List | ast.Tuple | ast.Set):
                return None
            values = [self._pair(left, ast.Constant(one)) for one in held]
            if any(one is None for one in values):
                return None
            found = z3.Or(*[a == b for a, b in filter(None, values)])
            return z3.Not(found) if isinstance(op, ast.NotIn) else found
        pair = self._pair(left, right)
        if pair is None or type(op) not in _ORDERS:
            return None
        if z3.is_string(pair[0]) and not isinstance(op, ast.Eq | ast.NotEq):
            return None
        self._learn_range(node)
        return _ORDERS[type(op)](*pair)

    def _pair(self, left: ast.expr, right: ast.expr) -> tuple[Term, Term] | None:
        """Return the terms of two sides, one of which is a literal."""
        for one, other in ((left, right), (right, left)):
            value = literals_of(other)
            if value is None or len(value) != 1 or isinstance(value[0], bool):
                continue
            if isinstance(other, ast.List | ast.Tuple | ast.Set | ast.Dict):
                continue
            literal = _literal(value[0])
            term = self._value(one, is_text=z3.is_string(literal))
            if term is not None:
                return (term, literal) if one is left else (literal, term)
        return None

    def _value(self, node: ast.expr, *, is_text: bool) -> Term | None:
        """Return the term of a value, whose parts are the same wherever they stand."""
        computed = None
        if isinstance(node, ast.BinOp) and not is_text:
            computed = self._computed(node)
        if computed is not None:
            return computed
        if isinstance(node, ast.Constant):
            value = node.value
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return None if is_text or not is_number else z3.RealVal(str(value))
        if isinstance(node, ast.UnaryOp | ast.Compare | ast.BoolOp):
            return None
        name = ast.unparse(node)
        made = z3.Const(name, z3.StringSort() if is_text else z3.RealSort())
        known = self._sorts.setdefault(name, made)
        return known if z3.is_string(known) == is_text else None

    def _computed(self, node: ast.BinOp) -> Term | None:  # noqa: PLR0911 - one for each operator
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

    def _learn_range(self, node: ast.Compare) -> None:
        """Note what a score is between that is compared, after it is computed with or as it is."""
        decided = self._goals.get(place_of(node))
        leaves = [one for one in (node.left, *node.comparators) for one in _leaves(one)]
        names = {ast.unparse(one) for one in leaves}
        if decided is None or len(names) != 1:
            return
        steps = tuple(written(one)[:_MAX_STEP_LENGTH] for one in _computations(node))
        ranges = {_range_before(flow, steps) for flow in decided.flows}
        between = ranges.pop() if len(ranges) == 1 else None
        if between is not None:
            self._ranges[names.pop()] = between


def _literal(value: float | str) -> Term:
    if isinstance(value, str):
        return z3.StringVal(value)
    return z3.RealVal(str(Fraction(repr(float(value)))))


def _range_before(flow: ValueFlow, steps: tuple[str, ...]) -> tuple[float, float] | None:
    """Return what a score is between before it is computed with, in these steps only."""
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


def _computations(node: ast.expr) -> Iterator[ast.BinOp]:
    """Yield what is computed of values, the innermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _computations(child)
    if isinstance(node, ast.BinOp):
        yield node


def _is_plain(node: ast.expr) -> bool:
    """Return whether evaluating a condition changes nothing, and comes to the same each time."""
    match node:
        case ast.Call(func=ast.Name(id="len" | "abs"), args=[inner], keywords=[]):
            return _is_plain(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]):
            return name in _OF_TEXTS and _is_plain(inner)
        case _:
            children = ast.iter_child_nodes(node)
            return isinstance(node, _PLAIN) and all(
                _is_plain(one) for one in children if isinstance(one, ast.expr)
            )


def _slack(term: Term, *, holds: bool) -> Term:
    """Return that a condition holds or not, with some slack where numbers are computed."""
    kind, children = term.decl().kind(), term.children()
    if kind == z3.Z3_OP_NOT:
        return _slack(children[0], holds=not holds)
    if kind in {z3.Z3_OP_AND, z3.Z3_OP_OR}:
        inner = [_slack(one, holds=holds) for one in children]
        return z3.And(*inner) if (kind == z3.Z3_OP_AND) is holds else z3.Or(*inner)
    plain = term if holds else z3.Not(term)
    if not any(_is_computed(one) for one in children) or not z3.is_real(children[0]):
        return plain
    a, b = children
    room = _SLACK * 100
    if kind == z3.Z3_OP_EQ:
        return z3.And(a - b <= room, b - a <= room) if holds else z3.BoolVal(val=True)
    if kind == z3.Z3_OP_DISTINCT:
        return z3.BoolVal(val=True) if holds else z3.And(a - b <= room, b - a <= room)
    is_less = kind in {z3.Z3_OP_LE, z3.Z3_OP_LT}
    return a <= b + room if is_less is holds else a + room >= b


def _is_computed(term: Term) -> bool:
    return term.decl().kind() in {z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_MUL, z3.Z3_OP_DIV}


_ORDERS: dict[type[ast.cmpop], Callable[[Term, Term], Term]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
