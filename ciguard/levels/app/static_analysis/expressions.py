"""What is known of the value of each expression of a function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.calls import Callees
from ciguard.levels.app.static_analysis.conditions import OPERATORS, literals, written
from ciguard.levels.app.static_analysis.summaries import ANY, applied
from ciguard.levels.app.static_analysis.values import (
    EACH,
    ELSEWHERE,
    LISTED,
    NOTHING,
    Answer,
    Value,
    ValueFlow,
    together,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.scope import FunctionScope

    Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

_TAKES_IN = frozenset({
    "add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update", "write",
})  # fmt: skip
"""Methods that put what they are given into the object that they are of."""
_HANDS_ON = frozenset({
    "copy", "enumerate", "filter", "get", "items", "iter", "list", "max", "min", "next", "pop",
    "reversed", "set", "sorted", "tuple", "values", "zip",
})  # fmt: skip
"""Functions and methods after which the same objects are there."""
_MAX_LENGTH = 60


class Expressions:
    """The expressions of one function."""

    def __init__(self, scope: FunctionScope) -> None:
        self._scope = scope
        self._callees = Callees(scope, self.of)
        self._known: dict[ast.expr, Value] = {}

    def forget(self) -> None:
        """Begin with another statement: variables may be something else by now."""
        self._known.clear()

    def of(self, node: ast.expr | None) -> Value:
        """Return what an expression may be; notes what its evaluation does."""
        if node is None or isinstance(node, ast.Constant):
            return NOTHING
        if node not in self._known:
            self._known[node] = self._read(node)
        return self._known[node]

    def _read(self, node: ast.expr) -> Value:
        match node:
            case ast.Name(id=name):
                return self._scope.variable(name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.Subscript(value=held, slice=at):
                looked_up = self.of(at).then(f"looked up in {_short(held)}")
                return self.of(held).then(f"[{_short(at)}]") | looked_up
            case _:
                return self._composed(node)

    def assigned(self, node: ast.expr | None) -> Value:
        """Return what a variable may be that gets the value of an expression."""
        return NOTHING if node is None else self._either(node)

    def bind(self, target: ast.expr | None, value: Value, *, replaces: bool = False) -> None:
        """Note what a target may be from now on.

        Args:
            target: of an assignment, a loop and the like.
            value: that it gets.
            replaces: whether a variable is nothing else any more.
        """
        match target:
            case ast.Name(id=name):
                self._scope.set(name, value, replaces=replaces)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                held = together([value, *map(self._fields, value.instances)])
                for part in parts:
                    self.bind(part, held, replaces=replaces)
            case ast.Starred(value=inner) | ast.Subscript(value=inner):
                self.bind(inner, value)
            case ast.Attribute(value=owner, attr=name):
                instances = self.of(owner).instances
                for one in instances:
                    self._scope.world.set_field(one, name, value)
                if not instances:  # `image.source.image_uri = uri`
                    self._scope.world.set_field(ANY, name, value)
                    self.bind(owner, value)
            case _:
                pass

    def _comparison(self, node: ast.Compare) -> Value:
        constants = self._scope.module.constants
        sides = [
            NOTHING if literals(side, constants) else self.of(side)
            for side in (node.left, *node.comparators)
        ]
        other = node.comparators[0] if sides[0].flows else node.left
        return together(sides).then(f"{OPERATORS[type(node.ops[0])]} {_short(other)}")

    def _composed(self, node: ast.expr) -> Value:
        match node:
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp(test=test, body=body, orelse=other):
                self._scope.decide(test, self.of)
                return self._either(body) | self._either(other)
            case ast.NamedExpr(target=target, value=value):
                found = self.assigned(value)
                self.bind(target, found)
                return found
            case ast.Lambda(body=body):
                return self.of(body)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case _:
                return self._mixed(node)

    def _mixed(self, node: ast.expr) -> Value:
        match node:
            case ast.Yield(value=value) if value is not None:
                self._scope.summary.returned |= self._either(value).then(LISTED)
                return NOTHING
            case ast.BoolOp(values=values):
                return together(map(self._either, values))
            case ast.BinOp() | ast.UnaryOp() | ast.JoinedStr():
                return self._parts(node).then(written(node)[:_MAX_LENGTH])
            case ast.List(elts=held) | ast.Tuple(elts=held) | ast.Set(elts=held):
                return together(map(self._either, held))
            case _:
                return self._parts(node)

    def _parts(self, node: ast.expr) -> Value:
        inner = (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
        return together(map(self.of, inner))

    def _either(self, node: ast.expr) -> Value:
        """Return what one of several values may be, a literal too."""
        return self.of(node) or (NOTHING if _is_empty(node) else ELSEWHERE)

    def _comprehension(self, node: Comprehension) -> Value:
        before = dict(self._scope.local)
        for generator in node.generators:
            self.bind(generator.target, self.of(generator.iter).then(EACH), replaces=True)
            for test in generator.ifs:
                self._scope.decide(test, self.of)
        if isinstance(node, ast.DictComp):
            found = self.of(node.key) | self.of(node.value)
        else:
            found = self.of(node.elt).then(LISTED)
        for name in (name for one in node.generators for name in names_in(one.target)):
            self._scope.local.pop(name, None)  # its variables are its own
            if name in before:
                self._scope.local[name] = before[name]
        return found

    def _attribute(self, node: ast.Attribute) -> Value:
        held = self.of(node.value)
        # A client stays one: `client.face.detect_with_url`.
        asked = (one.operations.get(node.attr) for one in held.clients)
        operations = frozenset(one for one in asked if one is not None)
        found = held.then(f".{node.attr}") | Value(clients=held.clients, operations=operations)
        for one in held.instances:
            found |= self._scope.world.field(one, node.attr)
        home = self._scope.module.names.qualified(node.value)
        return found | self._scope.world.variables.get((f"{home}.{MAIN}", node.attr), NOTHING)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        match node:
            case ast.Call(
                func=ast.Name(id="getattr"), args=[held, ast.Constant(value=str(name)), *other]
            ):
                attribute = ast.copy_location(ast.Attribute(held, name, ast.Load()), node)
                return together([self.of(attribute), *map(self._either, other)])
            case ast.Call(
                func=ast.Name(id="setattr"), args=[held, ast.Constant(value=str(name)), value]
            ):
                attribute = ast.copy_location(ast.Attribute(held, name, ast.Store()), node)
                self.bind(attribute, self.assigned(value))
                return NOTHING
            case _:
                return self._called(node)

    def _called(self, node: ast.Call) -> Value:
        given = [self.of(one) for one in node.args]
        named = {one.arg or "": self.of(one.value) for one in node.keywords}
        everything = together([*given, *named.values()])
        operations = self._callees.operations(node)
        if operations:
            file = self._scope.module.file
            about = everything | self._given_before(node)
            answers = {
                Answer(one, file, node.lineno): frozenset() if one.is_by_name else about.flows
                for one in operations
            }
            self._scope.summary.own.update(answers)
            self._scope.ask(answers)
            self._scope.ask_by({one: self._coming(node, one.operation) for one in answers})
            return Value(frozenset(map(ValueFlow, answers)))
        found = self._callees.made(node)
        found |= _about(found, given, named).then(f"{_short(node.func)}()")
        called = self._callees.functions(node)
        for name, is_bound in called:
            found |= self._applied(name, node, given, named, is_bound=is_bound)
        if not called:
            for one in found.instances:
                self._fill(one, given, named)
        is_known = called or found.clients or found.instances
        return found if is_known else self._unknown(node, everything)

    def _coming(self, node: ast.Call, operation: Operation) -> frozenset[ValueFlow]:
        """Return where the client of a call comes from, if that is handed on as it is."""
        if not isinstance(node.func, ast.Attribute):
            return frozenset()
        flows = self.of(node.func.value).flows
        # A client may have its methods in a part of that name: `client.face.detect_with_url`.
        whole = {(), (f".{operation.client}",)}
        return frozenset(ValueFlow(one.source) for one in flows if one.steps in whole)

    def _given_before(self, node: ast.Call) -> Value:
        """Return what a client asks about that was given to it when it was made."""
        method = self.of(node.func)
        is_given = any(client.about is not None for client in method.clients)
        return Value(method.flows) if is_given else NOTHING

    def _fill(self, made: str, given: Sequence[Value], named: Mapping[str, Value]) -> None:
        """Note what the fields of an object are that a generated constructor makes."""
        world = self._scope.world
        fields = zip(world.given_fields(made), given, strict=False)
        for name, value in (*fields, *named.items()):
            world.set_field(made, name, value or ELSEWHERE)
        after = world.method(made, "__post_init__")
        if after:
            self._pass(after, {}, "__post_init__()")

    def _fields(self, of: str) -> Value:
        """Return what an object's fields may be, which it is taken apart into."""
        world = self._scope.world
        return together(world.field(of, name) for name in world.given_fields(of))

    def _applied(
        self,
        name: str,
        node: ast.Call,
        given: Sequence[Value],
        named: Mapping[str, Value],
        *,
        is_bound: bool,
    ) -> Value:
        """Return what a call of a function of the application comes to."""
        placed = self._scope.world.placed[name]
        parameters = placed.routine.parameters()[1 if is_bound else 0 :]
        bound = dict(zip(parameters, given, strict=False))
        bound |= {key: value for key, value in named.items() if key in parameters}
        beyond = [value for key, value in named.items() if key not in parameters]
        rest = together([*given[len(parameters) :], *beyond])
        bound |= dict.fromkeys(placed.routine.rest(), rest)
        return self._pass(name, bound, f"{_short(node.func)}()")

    def _pass(self, name: str, given: Mapping[str, Value], step: str) -> Value:
        """Return what a function of the application answers; note what it does.

        Args:
            name: of the function, qualified.
            given: by parameter.
            step: what the call is called in the way of a value.
        """
        world = self._scope.world
        self._scope.summary.callees.add(name)
        for parameter, value in given.items():
            if value.clients:
                world.set_clients(name, parameter, value.clients)
        part = applied(world.summaries[name], world.placed[name], given, step)
        self._scope.reach(part.goals)
        self._scope.ask(part.asked)
        self._scope.ask_by(part.clients)
        return part.returned

    def _unknown(self, node: ast.Call, everything: Value) -> Value:
        """Return what a function of somebody else may make of what it is given."""
        if not isinstance(node.func, ast.Attribute):
            objects = everything.instances if written(node.func) in _HANDS_ON else frozenset()
            made = (self.of(node.func) | everything).then(f"{_short(node.func)}()")
            return made | Value(instances=objects)
        held, method = self.of(node.func.value), node.func.attr
        if method in _TAKES_IN:
            self.bind(node.func.value, (everything or ELSEWHERE).then(LISTED))
        literals = ", ".join(_short(one) for one in node.args if isinstance(one, ast.Constant))
        step = f".{method}({literals})" if held.flows else f"{_short(node.func)}()"
        objects = held.instances if method in _HANDS_ON else frozenset()
        return (held | everything).then(step) | Value(instances=objects)


def _about(made: Value, given: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Return what clients are to be asked about, of what they are made with."""
    arguments = [one.about for one in made.clients if one.about is not None]
    return together(
        named.get(name, given[at] if at < len(given) else NOTHING) for name, at in arguments
    )


def names_in(target: ast.expr) -> tuple[str, ...]:
    """Return the variables that a target sets, each once."""
    found = (node for node in ast.walk(target) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(one.id for one in found if isinstance(one.ctx, ast.Store)))


def _is_empty(node: ast.expr) -> bool:
    """Return whether that is None or an empty list and the like, to be filled later."""
    match node:
        case ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Constant(value=None):
            return True
        case ast.Call(func=ast.Name(id="list" | "dict" | "set"), args=[], keywords=[]):
            return True
        case _:
            return False


def _short(node: ast.AST) -> str:
    text = written(node)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
