"""Scopes: the names that they bind, and the imports to which names refer.

The binding in the nearest scope counts: a parameter, an assignment or a loop hides an import.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.sources.imports import ALL_NAMES, Import, imports_by
from ciguard.sources.names import chain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
"""Node of a function definition."""
_NAMELESS_NODES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant)
_BINDING_NODES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Name, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)
"""Nodes that bind names in a scope, except imports."""
_SCOPE_NODES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node, without operators, constants and contexts of names."""
    nodes: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            nodes += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _NAMELESS_NODES):
            nodes.append(value)
    return nodes


def scope_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a scope in order, without those of inner scopes.

    Args:
        nodes: the statements of the scope, or its parameters.
    """
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.comprehension):
            pending.extend([*node.ifs, node.iter])  # its target belongs to the inner scope
        elif not isinstance(node, _SCOPE_NODES):
            pending.extend(children(node)[::-1])


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of a function's parameters, `*args` and `**kwargs` last."""
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [item.arg for item in (*named, arguments.vararg, arguments.kwarg) if item]


def names_bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds in its scope; those of its children are left out."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (item.local for item in imports_by(node) if item.local != ALL_NAMES)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            return


def names_bound_in(*nodes: ast.AST) -> set[str]:
    """Return the names that statements bind in their own scope, in any branch."""
    return {name for node in scope_nodes(nodes) for name in names_bound_by(node)}


def names_changed_by(node: ast.AST) -> Iterator[str]:
    """Yield names whose values a node may change: it binds them, or sets an attribute of them."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case _:
            yield from names_bound_by(node)


@dataclass(slots=True)
class Scope:
    """The names of a module, a class or a function."""

    names: dict[str, str | None]
    """Qualified name of the import by bound name; None for names that are not imported."""
    outer: Scope | None = None
    """Enclosing scope; None for a module."""
    is_class: bool = False
    """True for a class; functions inside it cannot read its names."""
    package: str = ""
    """Dotted name of the module's package, for relative imports."""
    imports: list[Import] = field(default_factory=list)
    """Imports in this scope."""

    def inner(
        self, nodes: Iterable[ast.AST], hidden: Iterable[str] = (), *, is_class: bool = False
    ) -> Scope:
        """Return the scope of a definition in this scope.

        Args:
            nodes: all statements of the definition.
            hidden: names of its parameters, which hide imports of the same names.
            is_class: whether a class is defined.
        """
        scope = Scope({}, self, is_class, self.package)
        scope.bind(nodes, hidden)
        return scope

    def bind(self, nodes: Iterable[ast.AST], hidden: Iterable[str] = ()) -> None:
        """Bind the names of statements: imports, then aliases; other bindings hide imports.

        Args:
            nodes: all statements of the scope.
            hidden: names that are bound before the statements, such as parameters.
        """
        bound = Counter(hidden)
        aliases: dict[str, ast.expr] = {}
        outer_names: set[str] = set()
        for node in scope_nodes(nodes):
            match node:
                case ast.Import() | ast.ImportFrom():
                    self.imports += imports_by(node, self.package)
                case ast.Global() | ast.Nonlocal():
                    outer_names.update(node.names)
                case ast.Assign(value=ast.Attribute() | ast.Name()):
                    aliases |= {t.id: node.value for t in node.targets if isinstance(t, ast.Name)}
                case _:
                    pass
            if isinstance(node, _BINDING_NODES):
                bound.update(names_bound_by(node))
        # The first of several imports of a name counts; the others are fallbacks.
        imported = {
            item.local: item.qualified_name
            for item in reversed(self.imports)
            if item.local != ALL_NAMES
        }
        self.names = dict.fromkeys(bound) | imported
        for name, value in aliases.items():
            # An alias such as `act = F.relu` counts if it is the only binding of the name.
            root, parts = chain(value)
            if name not in imported and bound[name] == 1 and root != name:
                qualified_root, _ = self.lookup(root)
                self.names[name] = ".".join([qualified_root, *parts]) if qualified_root else None
        for name in outer_names:
            self.names.pop(name, None)

    def lookup(self, name: str) -> tuple[str | None, bool]:
        """Return the qualified name of a name's import, and whether the name is bound.

        The first is None for a name that is not imported, or is not bound in a known scope.
        """
        scope: Scope | None = self
        is_inner = True
        while scope is not None:
            if name in scope.names and (is_inner or not scope.is_class):
                return scope.names[name], True
            scope, is_inner = scope.outer, False
        return None, False
