"""Targets of calls: operations of services, client constructors, the application's functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.values import (
    EACH,
    NOTHING,
    Value,
    join_values,
    paired_value,
)
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ciguard.levels.app.providers.description import Operation, ServiceClient
    from ciguard.levels.app.static_analysis.scope import FunctionScope

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Callees:
    """Resolve the calls in one function to their targets."""

    def __init__(self, scope: FunctionScope, value_of: Callable[[ast.expr], Value]) -> None:
        """Create the resolver.

        Args:
            scope: the scope of the function.
            value_of: returns the value of an expression.
        """
        self._scope = scope
        self._value_of = value_of

    def operations(self, node: ast.Call) -> frozenset[Operation]:
        """Return the operations that a call may invoke; several if the method comes from a list.

        If the client is unknown, its method is recognised by an unambiguous name. A client method
        that is passed to a library function, such as an executor's `submit`, counts as called.
        """
        operations = self._value_of(node.func).operations
        if operations or self.functions(node):
            return frozenset(part for operation in operations for part in self._parts(operation))
        if not isinstance(node.func, ast.Attribute):
            return self._passed_operations(node)
        receiver, method = self._value_of(node.func.value), node.func.attr
        if receiver.instances or receiver.clients:
            return frozenset()
        operation = self._scope.state.operation_by_name(self._scope.module, method)
        return frozenset(self._parts(operation)) if operation else self._passed_operations(node)

    def _parts(self, operation: Operation) -> Sequence[Operation]:
        """Return the operations that a request selects: those whose features the code names.

        The features are searched for in the function, else in the top-level code of its file, else
        in the whole file. If nothing names any, the request may select all operations.
        """
        if not operation.parts:
            return (operation,)
        file = self._scope.state.routines[f"{self._scope.module.name}.{MAIN}".lstrip(".")].routine
        top_level = [node for node in file.body if not isinstance(node, _DEFINITIONS)]
        for body in (self._scope.function.routine.body, top_level, file.body):
            names = set(_names_and_texts(body))
            selected = [part for part in operation.parts if part.feature in names]
            if selected:
                return selected
        return operation.parts

    def _passed_operations(self, node: ast.Call) -> frozenset[Operation]:
        arguments = (*node.args, *(argument.value for argument in node.keywords))
        return frozenset(
            operation for argument in arguments for operation in self._value_of(argument).operations
        )

    def created_object(self, node: ast.Call) -> Value:
        """Return the client or the instance that a call creates; `NOTHING` for any other call."""
        name = self._qualified(node.func)
        texts = {
            _text(value) for value in (*node.args, *(keyword.value for keyword in node.keywords))
        }
        created = self._created_clients(node, name)
        is_any = _is_any_service(node)
        clients = frozenset(
            client for client in created if is_any or not client.service or client.service in texts
        )
        is_own = self._scope.state.is_class(name)
        return Value(clients=clients, instances=frozenset({name} if is_own else ()))

    def functions(self, node: ast.Call) -> list[tuple[str, bool]]:
        """Return the application's functions that a call may invoke.

        Each comes with True if the call passes its first parameter, such as `self`, implicitly.
        """
        state, name = self._scope.state, self._qualified(node.func)
        if state.is_class(name):
            constructor = state.method(name, "__init__")
            return [(constructor, True)] if constructor else []
        inner = f"{self._scope.qualified_name}.<locals>.{dotted_name(node.func)}"
        for candidate in (inner, name):
            if candidate in state.routines:
                return [(candidate, False)]
        if not isinstance(node.func, ast.Attribute):
            return []
        receiver = self._value_of(node.func.value)
        methods = (
            state.method(candidate, node.func.attr) for candidate in sorted(receiver.instances)
        )
        return [(method, True) for method in methods if method]

    def _created_clients(self, node: ast.Call, name: str) -> Iterable[ServiceClient]:
        """Return the clients that a call may create.

        Args:
            node: the call; a chain such as `Session().client()` is resolved too.
            name: the qualified name of its callee; empty if unknown.
        """
        match node.func:
            case ast.Attribute(value=ast.Call(func=inner), attr=method) if not name:
                name = f"{self._qualified(inner)}.{method}"
            case _:
                pass
        return self._scope.state.clients_created_by(name)

    def _qualified(self, node: ast.expr) -> str:
        """Return the qualified name of the callee, within the application or a library."""
        state, module = self._scope.state, self._scope.module
        name = module.names.qualified(node)
        local = f"{module.name}.{name}"
        return local if state.is_class(local) or local in state.routines else name


def inputs_of_clients(
    clients: Value, arguments: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """Return the arguments of a client's constructor that are inputs of its later calls."""
    parameters = [client.input_parameter for client in clients.clients if client.input_parameter]
    return join_values(
        keywords.get(name, arguments[index] if index < len(arguments) else NOTHING)
        for name, index in parameters
    )


def listed_tuples(node: ast.Call, arguments: Sequence[Value]) -> Value | None:
    """Return the value of the tuples that `zip` or `enumerate` makes; None for any other call."""
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=args) if not any(
            isinstance(argument, ast.Starred) for argument in args
        ):
            return paired_value(argument.then(EACH) for argument in arguments)
        case ast.Call(func=ast.Name(id="enumerate"), args=[_, *_]):
            return paired_value([NOTHING, arguments[0].then(EACH)])
        case _:
            return None


def _is_any_service(node: ast.Call) -> bool:
    """Return whether a constructor call may create any client: its service is not a literal."""
    services = [
        keyword.value for keyword in node.keywords if (keyword.arg or "").startswith("service")
    ]
    services = services or node.args[:1]
    return bool(services) and not _text(services[0])


def _names_and_texts(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the attributes and the keywords that statements name, and their strings."""
    for node in (node for statement in body for node in ast.walk(statement)):
        match node:
            case (
                ast.Attribute(attr=name)
                | ast.Constant(value=str(name))
                | ast.keyword(arg=str(name))
            ):
                yield name
            case _:
                pass


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
