"""Abstract values of the expressions of a function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.calls import Callees, inputs_of_clients, listed_tuples
from ciguard.levels.app.static_analysis.conditions import (
    OPERATORS,
    literals_or_constant,
    one_line_source,
    variables_of_literals,
)
from ciguard.levels.app.static_analysis.summaries import ANY, applied_summary
from ciguard.levels.app.static_analysis.values import (
    EACH,
    INTO,
    LISTED,
    NOTHING,
    OTHER_SOURCE,
    Answer,
    Value,
    ValueFlow,
    dictionary_value,
    join_values,
)
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.scope import FunctionScope

    Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

_STORING_METHODS = frozenset({
    "add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update", "write",
})  # fmt: skip
"""Methods that store their arguments in their receiver."""
_PRESERVING_CALLS = frozenset({
    "copy", "enumerate", "filter", "get", "items", "iter", "list", "max", "min", "next", "pop",
    "reversed", "set", "sorted", "tuple", "values", "zip",
})  # fmt: skip
"""Functions and methods whose result holds the same objects as their argument or receiver."""
_MAX_LENGTH = 60


class Expressions:
    """Evaluate the expressions of one function abstractly."""

    def __init__(self, scope: FunctionScope) -> None:
        self._scope = scope
        self._callees = Callees(scope, self.value_of)
        self._values: dict[ast.expr, Value] = {}

    def forget(self) -> None:
        """Forget values before the next statement: variables may have changed."""
        self._values.clear()

    def value_of(self, node: ast.expr | None) -> Value:
        """Return the value of an expression, and record the effects of its evaluation."""
        if node is None or isinstance(node, ast.Constant):
            return NOTHING
        if node not in self._values:
            self._values[node] = self._evaluate(node)
        return self._values[node]

    def _evaluate(self, node: ast.expr) -> Value:
        match node:
            case ast.Name(id=name):
                return self._scope.variable(name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.Subscript(value=container, slice=index):
                looked_up = self.value_of(index).then(f"looked up in {_short(container)}")
                return self.value_of(container).then(f"[{_short(index)}]") | looked_up
            case _:
                return self._compound(node)

    def assigned_value(self, node: ast.expr | None) -> Value:
        """Return the value that a variable gets by the assignment of an expression."""
        return NOTHING if node is None else self._alternative(node)

    def bind(self, target: ast.expr | None, value: Value, *, replaces: bool = False) -> None:
        """Bind a value to a target.

        Args:
            target: the target of an assignment, a loop or a `with` statement.
            value: the value that the target gets.
            replaces: whether the value replaces that of a variable; otherwise, the two are joined.
        """
        match target:
            case ast.Name(id=name):
                self._scope.set(name, value, replaces=replaces)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                unpacked = join_values([value, *map(self._fields, value.instances)])
                for index, part in enumerate(parts):
                    self.bind(part, unpacked.unpacked(index), replaces=replaces)
            case ast.Subscript(value=container, slice=ast.Constant(value=index)):
                self.bind(container, value.as_item(index))
            case ast.Starred(value=starred) | ast.Subscript(value=starred):
                self.bind(starred, value)
            case ast.Attribute(value=owner, attr=name):
                instances = self.value_of(owner).instances
                for class_name in instances:
                    self._scope.state.join_field(class_name, name, value)
                if not instances:  # `image.source.image_uri = uri`
                    self._scope.state.join_field(ANY, name, value)
                    self.bind(owner, value)
            case _:
                pass

    def _comparison(self, node: ast.Compare) -> Value:
        constants = self._scope.module.constants
        sides = [
            NOTHING if literals_or_constant(side, constants) else self.value_of(side)
            for side in (node.left, *node.comparators)
        ]
        other = node.comparators[0] if sides[0].flows else node.left
        return join_values(sides).then(f"{OPERATORS[type(node.ops[0])]} {_short(other)}")

    def _compound(self, node: ast.expr) -> Value:
        match node:
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp(test=test, body=body, orelse=other):
                self._scope.add_branch_goals(test, self.value_of)
                return self._alternative(body) | self._alternative(other)
            case ast.NamedExpr(target=target, value=value):
                assigned = self.assigned_value(value)
                self.bind(target, assigned)
                return assigned
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case _:
                return self._joined_operands(node)

    def _joined_operands(self, node: ast.expr) -> Value:
        match node:
            case ast.Yield(value=value) if value is not None:
                self._scope.summary.returned |= self._alternative(value).then(LISTED)
                return NOTHING
            case ast.BoolOp(values=values):
                return join_values(map(self._alternative, values))
            case ast.BinOp() | ast.UnaryOp() | ast.JoinedStr():
                return self._operands(node).then(one_line_source(node)[:_MAX_LENGTH])
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return self._display(node)
            case ast.Lambda(body=body):
                return self.value_of(body)
            case _:
                return self._operands(node)

    def _display(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> Value:
        """Return the value of a collection; tuples and dictionaries keep their items apart."""
        if isinstance(node, ast.Dict):
            items = list(map(self._dictionary_item, node.keys, node.values))
            extends_another = None in node.keys and len(node.keys) > 1
            return join_values([*items, OTHER_SOURCE] if extends_another else items)
        elements = [self._alternative(element) for element in node.elts]
        if isinstance(node, ast.Tuple) and not _has_starred(node.elts):
            elements = [element.as_item(index) for index, element in enumerate(elements)]
        return join_values(elements)

    def _dictionary_item(self, key: ast.expr | None, value: ast.expr) -> Value:
        """Return the value of an item of a dictionary; without a key, of a whole one."""
        if isinstance(key, ast.Constant):
            return self.value_of(value).as_item(key.value)
        return self.value_of(key) | self.value_of(value)

    def _operands(self, node: ast.expr) -> Value:
        children = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
        return join_values(map(self.value_of, children))

    def _alternative(self, node: ast.expr) -> Value:
        """Return the value of an expression; a literal that is not empty counts as a source too."""
        return self.value_of(node) or (NOTHING if _is_empty(node) else OTHER_SOURCE)

    def _comprehension(self, node: Comprehension, *, is_test: bool = False) -> Value:
        """Return the value of a comprehension; if `is_test`, its elements are conditions."""
        before = dict(self._scope.local)
        literals = variables_of_literals(node.generators, self._scope.module.constants)
        for generator in node.generators:
            elements = self.value_of(generator.iter).then(EACH)
            is_literal = is_test and ast.unparse(generator.target) in literals
            self.bind(generator.target, NOTHING if is_literal else elements, replaces=True)
            for test in generator.ifs:
                self._scope.add_branch_goals(test, self.value_of)
        if isinstance(node, ast.DictComp):
            element = dictionary_value(self.value_of(node.key), self.value_of(node.value))
        else:
            if is_test:
                self._scope.add_branch_goals(node.elt, self.value_of, literals=literals)
            element = self.value_of(node.elt).then(LISTED)
        for name in (name for generator in node.generators for name in names_in(generator.target)):
            self._scope.local.pop(name, None)  # variables of a comprehension are local to it
            if name in before:
                self._scope.local[name] = before[name]
        return element

    def _attribute(self, node: ast.Attribute) -> Value:
        receiver = self.value_of(node.value)
        # A part of a client is a client: `client.face.detect_with_url`.
        operations_found = (item.operations.get(node.attr) for item in receiver.clients)
        operations = frozenset(item for item in operations_found if item is not None)
        value = receiver.then(f".{node.attr}") | Value(
            clients=receiver.clients, operations=operations
        )
        for item in receiver.instances:
            value |= self._scope.state.field(item, node.attr)
        module_name = self._scope.module.names.qualified(node.value)
        return value | self._scope.state.variables.get(
            (f"{module_name}.{MAIN}", node.attr), NOTHING
        )

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        match node:
            case ast.Call(
                func=ast.Name(id="getattr"),
                args=[receiver, ast.Constant(value=str(name)), *default],
            ):
                attribute = ast.copy_location(ast.Attribute(receiver, name, ast.Load()), node)
                return join_values([self.value_of(attribute), *map(self._alternative, default)])
            case ast.Call(
                func=ast.Name(id="setattr"), args=[receiver, ast.Constant(value=str(name)), value]
            ):
                attribute = ast.copy_location(ast.Attribute(receiver, name, ast.Store()), node)
                self.bind(attribute, self.assigned_value(value))
                return NOTHING
            case ast.Call(
                func=ast.Name(id="any" | "all"),
                args=[ast.ListComp() | ast.SetComp() | ast.GeneratorExp() as comprehension],
            ):
                elements = self._comprehension(comprehension, is_test=True)
                return elements.then(f"{_short(node.func)}()")
            case _:
                return self._resolved_call(node)

    def _resolved_call(self, node: ast.Call) -> Value:
        arguments = [self.value_of(argument) for argument in node.args]
        keywords = {keyword.arg or "": self.value_of(keyword.value) for keyword in node.keywords}
        all_arguments = join_values([*arguments, *keywords.values()])
        operations = self._callees.operations(node)
        if operations:
            file = self._scope.module.file
            inputs = all_arguments | self._constructor_input(node)
            answers = {
                Answer(operation, file, node.lineno): (
                    frozenset() if operation.is_by_job_name else inputs.flows
                )
                for operation in operations
            }
            self._scope.summary.direct_calls.update(answers)
            self._scope.add_calls(answers)
            self._scope.add_client_sources(
                {answer: self._client_sources(node, answer.operation) for answer in answers}
            )
            return Value(frozenset(map(ValueFlow, answers)))
        result = self._callees.created_object(node)
        result |= inputs_of_clients(result, arguments, keywords).then(f"{_short(node.func)}()")
        callees = self._callees.functions(node)
        for name, is_bound in callees:
            result |= self._function_call(name, node, arguments, keywords, is_bound=is_bound)
        if not callees:
            for class_name in result.instances:
                self._set_fields(class_name, arguments, keywords)
        is_known = callees or result.clients or result.instances
        if is_known:
            return result
        tuples = listed_tuples(node, arguments)
        return tuples if tuples is not None else self._library_call(node, all_arguments)

    def _client_sources(self, node: ast.Call, operation: Operation) -> frozenset[ValueFlow]:
        """Return the sources of a call's client; empty if it was derived from another value."""
        if not isinstance(node.func, ast.Attribute):
            return frozenset()
        flows = self.value_of(node.func.value).flows
        # A client may have its methods in a part of that name: `client.face.detect_with_url`.
        unchanged = {(), (f".{operation.client}",)}
        return frozenset(ValueFlow(flow.source) for flow in flows if flow.steps in unchanged)

    def _constructor_input(self, node: ast.Call) -> Value:
        """Return the input that a client got from its constructor, instead of from the call."""
        method = self.value_of(node.func)
        is_given = any(client.input_parameter is not None for client in method.clients)
        return Value(method.flows) if is_given else NOTHING

    def _set_fields(
        self, class_name: str, arguments: Sequence[Value], named: Mapping[str, Value]
    ) -> None:
        """Set the fields of an instance that a generated constructor creates."""
        state = self._scope.state
        fields = zip(state.constructor_fields(class_name), arguments, strict=False)
        for name, value in (*fields, *named.items()):
            state.join_field(class_name, name, value or OTHER_SOURCE)
        post_init = state.method(class_name, "__post_init__")
        if post_init:
            self._apply(post_init, {}, f"{INTO}__post_init__()")

    def _fields(self, class_name: str) -> Value:
        """Return the join of the fields of a class, for an instance that is unpacked."""
        state = self._scope.state
        return join_values(
            state.field(class_name, name) for name in state.constructor_fields(class_name)
        )

    def _function_call(
        self,
        name: str,
        node: ast.Call,
        arguments: Sequence[Value],
        keywords: Mapping[str, Value],
        *,
        is_bound: bool,
    ) -> Value:
        """Return the result of calling a function of the application, and record its effects."""
        function = self._scope.state.routines[name]
        parameters = function.routine.parameters()[1 if is_bound else 0 :]
        bound = dict(zip(parameters, arguments, strict=False))
        bound |= {key: value for key, value in keywords.items() if key in parameters}
        extra_keywords = [value for key, value in keywords.items() if key not in parameters]
        rest = join_values([*arguments[len(parameters) :], *extra_keywords])
        bound |= dict.fromkeys(function.routine.catch_all_parameters(), rest)
        return self._apply(name, bound, f"{INTO}{_short(node.func)}()")

    def _apply(self, name: str, arguments: Mapping[str, Value], step: str) -> Value:
        """Return the result of a function of the application, and record its effects.

        Args:
            name: the qualified name of the function.
            arguments: the value of each argument, by parameter.
            step: the step that is added to each flow through the call.
        """
        state = self._scope.state
        self._scope.summary.callees.add(name)
        for parameter, value in arguments.items():
            if value.clients:
                state.add_clients(name, parameter, value.clients)
        effects = applied_summary(state.summaries[name], state.routines[name], arguments, step)
        self._scope.add_goals(effects.goals)
        self._scope.add_calls(effects.call_inputs)
        self._scope.add_client_sources(effects.clients)
        return effects.returned

    def _library_call(self, node: ast.Call, all_arguments: Value) -> Value:
        """Return the result of calling a library function: all that flows into it."""
        if not isinstance(node.func, ast.Attribute):
            if node.keywords and dotted_name(node.func) == "dict":
                all_arguments |= OTHER_SOURCE  # the names of the keywords
            objects = (
                all_arguments.instances
                if one_line_source(node.func) in _PRESERVING_CALLS
                else frozenset()
            )
            result = (self.value_of(node.func) | all_arguments).then(f"{_short(node.func)}()")
            return result | Value(instances=objects)
        receiver, method = self.value_of(node.func.value), node.func.attr
        if method in _STORING_METHODS:
            self.bind(node.func.value, (all_arguments or OTHER_SOURCE).then(LISTED))
        literals = ", ".join(
            _short(argument) for argument in node.args if isinstance(argument, ast.Constant)
        )
        step = f".{method}({literals})" if receiver.flows else f"{_short(node.func)}()"
        objects = receiver.instances if method in _PRESERVING_CALLS else frozenset()
        return (receiver | all_arguments).then(step) | Value(instances=objects)


def names_in(target: ast.expr) -> tuple[str, ...]:
    """Return the variables that a target binds, each once."""
    names = (node for node in ast.walk(target) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(name.id for name in names if isinstance(name.ctx, ast.Store)))


def _is_empty(node: ast.expr) -> bool:
    """Return whether an expression is None or an empty collection, to be filled later."""
    match node:
        case ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Constant(value=None):
            return True
        case ast.Call(func=ast.Name(id="list" | "dict" | "set"), args=[], keywords=[]):
            return True
        case _:
            return False


def _has_starred(elements: Sequence[ast.expr]) -> bool:
    return any(isinstance(element, ast.Starred) for element in elements)


def _short(node: ast.AST) -> str:
    text = one_line_source(node)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
