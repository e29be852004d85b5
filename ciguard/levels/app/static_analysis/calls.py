"""What a call is of: a service's operation, what makes a client, a function of the application."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.values import Value
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ciguard.levels.app.providers.description import Operation, ServiceClient
    from ciguard.levels.app.static_analysis.scope import FunctionScope


class Callees:
    """What the calls of one function are of."""

    def __init__(self, scope: FunctionScope, of: Callable[[ast.expr], Value]) -> None:
        """Begin.

        Args:
            scope: of the function.
            of: says what an expression may be.
        """
        self._scope = scope
        self._of = of

    def operations(self, node: ast.Call) -> frozenset[Operation]:
        """Return what a service is asked by a call: several, where they are taken out of a list.

        A method of a client that was made out of sight is told by its name, if nothing else in
        the application is called so. One that is handed to a function of another package, as an
        executor is, is called by that.
        """
        found = self._of(node.func).operations
        if found or self.functions(node):
            return found
        if not isinstance(node.func, ast.Attribute):
            return self._handed(node)
        held, method = self._of(node.func.value), node.func.attr
        if held.instances or held.clients:
            return frozenset()
        likely = self._scope.world.likely(self._scope.module, method)
        return frozenset({likely}) if likely else self._handed(node)

    def _handed(self, node: ast.Call) -> frozenset[Operation]:
        given = (*node.args, *(one.value for one in node.keywords))
        return frozenset(each for one in given for each in self._of(one).operations)

    def made(self, node: ast.Call) -> Value:
        """Return the client, or the application's object, that a call makes; else nothing."""
        name = self._qualified(node.func)
        texts = {_text(one) for one in (*node.args, *(one.value for one in node.keywords))}
        makers = self._makers(node, name)
        is_any = _is_any_service(node)
        clients = frozenset(
            one for one in makers if is_any or not one.service or one.service in texts
        )
        is_own = self._scope.world.is_class(name)
        return Value(clients=clients, instances=frozenset({name} if is_own else ()))

    def functions(self, node: ast.Call) -> list[tuple[str, bool]]:
        """Return the application's functions that a call may be of, and whether of an object."""
        world, name = self._scope.world, self._qualified(node.func)
        if world.is_class(name):
            made = world.method(name, "__init__")
            return [(made, True)] if made else []
        inner = f"{self._scope.own}.<locals>.{dotted_name(node.func)}"
        for one in (inner, name):
            if one in world.placed:
                return [(one, False)]
        if not isinstance(node.func, ast.Attribute):
            return []
        held = self._of(node.func.value)
        methods = (world.method(one, node.func.attr) for one in sorted(held.instances))
        return [(method, True) for method in methods if method]

    def _makers(self, node: ast.Call, name: str) -> Iterable[ServiceClient]:
        """Return the clients that a call may make; `Session().client` is written as a chain."""
        match node.func:
            case ast.Attribute(value=ast.Call(func=inner), attr=method) if not name:
                name = f"{self._qualified(inner)}.{method}"
            case _:
                pass
        return self._scope.world.makers(name)

    def _qualified(self, node: ast.expr) -> str:
        """Return the name within the application, or beyond it, of what is called."""
        world, module = self._scope.world, self._scope.module
        name = module.names.qualified(node)
        local = f"{module.name}.{name}"
        return local if world.is_class(local) or local in world.placed else name


def _is_any_service(node: ast.Call) -> bool:
    """Return whether a call does not say what service it makes a client of: a variable does."""
    named = [one.value for one in node.keywords if (one.arg or "").startswith("service")]
    named = named or node.args[:1]
    return bool(named) and not _text(named[0])


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
