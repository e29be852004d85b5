"""Evaluates expressions of an application, with values and terms side by side."""

# ruff: noqa: D102, N815 - one method for each kind of expression, by the name that `ast` has for it

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import z3

from ciguard.applications.solving import operations, texts
from ciguard.applications.solving.calls import Calls
from ciguard.applications.solving.holders import (
    chosen_by,
    guarded_items,
    is_key,
    looked_up,
    offer_keys,
    offer_sizes,
    substring,
)
from ciguard.applications.solving.objects import Bound, Instance, Scope
from ciguard.applications.solving.symbols import member_of, name_of
from ciguard.applications.solving.terms import (
    UNKNOWN,
    Listed,
    Raised,
    Record,
    Sym,
    both,
    is_scalar,
    negated,
    now,
    truth_of,
)
from ciguard.sources import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.applications.finding.conditions import Goal
    from ciguard.applications.solving.path import Path
    from ciguard.applications.solving.world import World
    from ciguard.sources import Place

    Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp


class Expressions(ast.NodeVisitor):
    """The expressions of one call of a function."""

    def __init__(self, world: World, scope: Scope, path: Path) -> None:
        self._world = world
        self._scope = scope
        self._path = path
        self._calls = Calls(world, scope, path, of=self.of, group=self.group)
        self._goals: Mapping[Place, Goal] = world.goals_in(scope.module.file)
        self.over: Any = None
        """What the last comprehension went over."""

    def of(self, node: ast.expr | None) -> Any:
        """Return what an expression is; UNKNOWN if that is not understood.

        Raises:
            Raised: if it raises.
            TooLongError: if it does too much.
        """
        if node is None:
            return None
        self._path.step()
        value = self.visit(node)
        goal = self._goals.get(place_of(node))
        if goal is not None:
            self._path.note(goal, truth_of(value))
        return value

    def is_true(self, node: ast.expr) -> bool:
        """Return how a condition turns out, and note what would turn it."""
        match node:
            case ast.BoolOp(op=op, values=values):
                is_and = isinstance(op, ast.And)
                found = is_and
                for value in values:
                    found = self.is_true(value)
                    if found is not is_and:
                        break
                return found
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.is_true(operand)
            case _:
                return self._path.decide(truth_of(self.of(node)), node)

    def truth(self, node: ast.expr) -> Any:
        """Return the truth of a condition and decide nothing, so that it may be counted."""
        match node:
            case ast.BoolOp(op=op, values=values):
                return self._merged(values, is_and=isinstance(op, ast.And))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return negated(self.truth(operand))
            case _:
                return truth_of(self.of(node))

    def _merged(self, values: Sequence[ast.expr], *, is_and: bool) -> Any:
        first, *rest = values
        found = self.truth(first)
        if not rest or found is UNKNOWN or (not isinstance(found, Sym) and found is not is_and):
            return found
        with self._path.under(found if is_and else negated(found)):
            try:
                other = self._merged(rest, is_and=is_and)
            except Raised:
                if bool(now(found)) is is_and:  # else Python does not get there
                    raise
                return found
        if other is UNKNOWN:
            return UNKNOWN if bool(now(found)) is is_and else found
        pair = [found, other] if is_and else [negated(found), negated(other)]
        return both(pair) if is_and else negated(both(pair))

    # --- expressions ------------------------------------------------------------------------------

    def generic_visit(self, node: ast.AST) -> Any:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.of(child)
        return UNKNOWN

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name) -> Any:
        found = self._scope.variable(node.id)
        if found is not UNKNOWN or self._scope.holds(node.id):
            return found
        return self._world.value(self._scope.module.names.qualified(node), self._scope.module)

    def visit_Attribute(self, node: ast.Attribute) -> Any:  # noqa: PLR0911 - one for each kind
        dotted = self._scope.module.names.qualified(node)
        member = member_of(dotted) if dotted else None
        if member is not None:
            return member
        held = self.of(node.value)
        match held:
            case Record():
                return held.get(node.attr)
            case Instance():
                return self._world.attribute(held, node.attr)
            case Sym(names=names) if names and node.attr == "name":
                return name_of(held)
            case Sym(names=names) if names and node.attr == "value":
                return held
            case texts.Matched() | None:
                self._is_there(held, node)
                return UNKNOWN
            case _ if held is UNKNOWN and dotted:
                return self._world.value(dotted, self._scope.module)
            case _:
                return UNKNOWN

    def _is_there(self, held: Any, node: ast.AST) -> None:
        """Note that a pattern may have found nothing.

        Raises:
            Raised: if it has, or there is nothing anyway.
        """
        truth = False if held is None else held.is_there
        if not self._path.check(truth, node):
            raise Raised(AttributeError("None"), "AttributeError")

    def visit_Compare(self, node: ast.Compare) -> Any:
        left = self.of(node.left)
        found = []
        for op, side in zip(node.ops, node.comparators, strict=True):
            right = self.of(side)
            found.append(operations.compared(op, left, right))
            left = right
        return UNKNOWN if UNKNOWN in found else both(found)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        is_and = isinstance(node.op, ast.And)
        found: Any = is_and
        for value in node.values:
            found = self.of(value)
            if value is node.values[-1]:
                break
            if self._path.decide(truth_of(found), value) is not is_and:
                break
        return found

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return negated(self.truth(node.operand))
        return operations.unary(node.op, self.of(node.operand))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.of(node.left), self.of(node.right)
        is_division = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
        if is_division and is_scalar(right) and not isinstance(now(right), str):
            self._path.check(operations.compared(ast.Eq(), right, 0), node)
        return operations.binary(node.op, left, right)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return self.of(node.body if self.is_true(node.test) else node.orelse)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.of(node.value)
        self._scope.set(node.target.id, value)
        return value

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return Bound(self._scope, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        found: Any = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.of(part.value)
                text = operations.as_text(value) if part.format_spec is None else UNKNOWN
            else:
                text = self.of(part)
            if text is UNKNOWN or found is UNKNOWN:
                found = UNKNOWN
            else:
                found = operations.binary(ast.Add(), found, text)
        return found

    def visit_List(self, node: ast.List | ast.Tuple | ast.Set) -> Any:
        found: list[Any] = []
        for one in node.elts:
            if isinstance(one, ast.Starred):
                inner = self.of(one.value)
                found += inner if isinstance(inner, list | tuple) else [UNKNOWN]
            else:
                found.append(self.of(one))
        return tuple(found) if isinstance(node, ast.Tuple) else found

    visit_Tuple = visit_Set = visit_List

    def visit_Dict(self, node: ast.Dict) -> Any:
        pairs = [
            (now(self.of(key)), self.of(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return {key: value for key, value in pairs if is_key(key)}

    def visit_Call(self, node: ast.Call) -> Any:
        return self._calls.of(node)

    # --- places -----------------------------------------------------------------------------------

    def visit_Subscript(self, node: ast.Subscript) -> Any:  # noqa: PLR0911 - likewise
        held = self.of(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._sliced(held, node.slice)
        at = self.of(node.slice)
        match held:
            case Record() if isinstance(at, str):
                return held.get(at)
            case texts.Matched():
                return self.group(held, at, node)
            case dict():
                return self._looked_up(held, at, node)
            case list() | tuple():
                return self._item(held, at, node)
            case str() | Sym() if isinstance(now(held), str):
                return self._letter(held, at, node)
            case _:
                return UNKNOWN

    def group(self, held: texts.Matched, at: Any, node: ast.AST) -> Any:
        """Return what a group of a pattern took.

        Raises:
            Raised: if the pattern found nothing.
        """
        self._is_there(held, node)
        number = dict(held.names).get(at, at)
        if not isinstance(number, int) or not 0 <= number < len(held.groups):
            return UNKNOWN
        return held.groups[number]

    def _item(self, held: Sequence[Any], at: Any, node: ast.AST) -> Any:
        if not isinstance(now(at), int):
            return UNKNOWN
        if isinstance(at, Sym):
            return chosen_by(at, held)
        present = now(at)
        least = present + 1 if present >= 0 else -present
        size = operations.length(held)
        if size is not UNKNOWN:
            self._path.check(operations.compared(ast.GtE(), size, least), node)
        return operations.computed(lambda: held[present])

    def _letter(self, held: Any, at: Any, node: ast.AST) -> Any:
        if not isinstance(at, int):
            return UNKNOWN
        least = at + 1 if at >= 0 else -at
        self._path.check(operations.compared(ast.GtE(), operations.length(held), least), node)
        present = operations.computed(lambda: now(held)[at])
        return operations.together(
            present,
            lambda: z3.SubString(held.term, at if at >= 0 else z3.Length(held.term) + at, 1),
            (held,),
        )

    def _looked_up(self, held: dict[Any, Any], at: Any, node: ast.AST) -> Any:
        if at is UNKNOWN:
            return UNKNOWN
        offer_keys(held, at, self._path, node)
        if not hasattr(type(held), "__missing__"):
            self._path.check(operations.compared(ast.In(), at, held), node)
        return looked_up(held, at)

    def _sliced(self, held: Any, part: ast.Slice) -> Any:
        edges = [now(self.of(one)) for one in (part.lower, part.upper, part.step)]
        if not all(one is None or isinstance(one, int) for one in edges):
            return UNKNOWN
        if isinstance(held, list | tuple):
            return list(held)[slice(*edges)]
        if not isinstance(now(held), str):
            return UNKNOWN
        present = now(held)[slice(*edges)]
        if edges[2] is not None:
            return present
        return operations.together(present, lambda: substring(held.term, *edges[:2]), (held,))

    # --- comprehensions ---------------------------------------------------------------------------

    def visit_ListComp(self, node: Comprehension) -> Any:
        found: list[tuple[Any, Any]] = []
        inner = Expressions(self._world, self._scope.inner(), self._path)
        is_fixed = inner.comprehend(node.generators, node.elt, found)
        if not is_fixed:
            return UNKNOWN
        items = [value for guard, value in found if now(guard)]
        if all(guard is True for guard, _ in found):
            over, is_all = inner.over, len(node.generators) == 1
            return Listed(items, over.size if isinstance(over, Listed) and is_all else None)
        return Listed(items, None, found)

    visit_SetComp = visit_GeneratorExp = visit_ListComp

    def comprehend(
        self,
        generators: Sequence[ast.comprehension],
        element: ast.expr,
        found: list[tuple[Any, Any]],
        guard: Any = True,  # noqa: FBT002 - one that may be known
    ) -> bool:
        """Add what a comprehension makes, and when it is in it; False if nobody knows."""
        if not generators:
            value = self.truth(element) if _is_condition(element) else self.of(element)
            found.append((guard, value))
            return True
        first, *rest = generators
        self.over = over = self.of(first.iter)
        items = guarded_items(over)
        if items is None:
            return False
        offer_sizes(over, self._path, first.iter)
        for is_in, item in items:
            held = both([guard, is_in])
            with self._path.under(held):
                try:
                    self.bind(first.target, item)
                    kept = both([held, *map(self._known_truth, first.ifs)])
                    with self._path.under(kept):
                        if kept is not False and not self.comprehend(rest, element, found, kept):
                            return False
                except Raised:
                    if now(held):
                        raise
        return True

    def _known_truth(self, test: ast.expr) -> Any:
        truth = self.truth(test)
        return self._path.decide(truth, test) if truth is UNKNOWN else truth

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        pairs: list[tuple[Any, Any]] = []
        inner = Expressions(self._world, self._scope.inner(), self._path)
        element = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        if not inner.comprehend(node.generators, element, pairs):
            return UNKNOWN
        return {now(k): v for guard, (k, v) in pairs if now(guard) and is_key(now(k))}

    # --- targets ----------------------------------------------------------------------------------

    def bind(self, target: ast.expr | None, value: Any) -> None:
        """Give a target a value."""
        match target:
            case ast.Name(id=name):
                self._scope.set(name, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._unpack(parts, value, target)
            case ast.Attribute(value=owner, attr=name):
                held = self.of(owner)
                if isinstance(held, Instance):
                    held.fields[name] = value
            case ast.Subscript(value=owner, slice=at):
                held, place = self.of(owner), now(self.of(at))
                if isinstance(held, dict) and is_key(place):
                    offer_keys(held, self.of(at), self._path, target)
                    held[place] = value
                elif isinstance(held, list) and isinstance(place, int):
                    operations.computed(lambda: held.__setitem__(place, value))
            case _:
                pass

    def _unpack(self, parts: Sequence[ast.expr], value: Any, node: ast.AST) -> None:
        is_starred = any(isinstance(one, ast.Starred) for one in parts)
        if not isinstance(value, list | tuple) or is_starred:
            for part in parts:
                self.bind(part.value if isinstance(part, ast.Starred) else part, UNKNOWN)
            return
        size = operations.length(value)
        if not self._path.check(operations.compared(ast.Eq(), size, len(parts)), node):
            raise Raised(ValueError("unpack"), "ValueError")
        for part, one in zip(parts, value, strict=False):
            self.bind(part, one)


def _is_condition(node: ast.expr) -> bool:
    return isinstance(node, ast.BoolOp | ast.Compare) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
