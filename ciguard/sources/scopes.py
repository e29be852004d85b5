"""Which names a scope binds, and what they mean in it.

A name means what its nearest binding says: a parameter, an assignment or a loop that reuses it
hides an import.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.sources.imports import EVERYTHING, Import, imports_by
from ciguard.sources.names import chain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant)
_BINDING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Name, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)
"""What binds names in a scope, imports apart."""
_NEW_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def children(node: ast.AST) -> list[ast.AST]:
    """Return what a node is made of, without what holds no name: most nodes are such."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
            found.append(value)
    return found


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of a scope in their order, those of scopes inside left out."""
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.comprehension):
            waiting.extend([*node.ifs, node.iter])  # its target is bound inside only
        elif not isinstance(node, _NEW_SCOPES):
            waiting.extend(children(node)[::-1])


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of a function's parameters, of those that catch the rest at the end."""
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [one.arg for one in (*given, arguments.vararg, arguments.kwarg) if one]


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds in its scope, what it is made of left out."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import() | ast.ImportFrom():
            yield from (one.local for one in imports_by(node) if one.local != EVERYTHING)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            return


def bound_in(*nodes: ast.AST) -> set[str]:
    """Return the names that statements bind in their own scope, in whatever branch."""
    return {name for node in own_nodes(nodes) for name in bound_by(node)}


def may_change(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds, here or elsewhere, and of objects that it may change."""
    match node:
        case ast.Attribute(value=ast.Name(id=name)):
            yield name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case _:
            yield from bound_by(node)


@dataclass(slots=True)
class Scope:
    """What the names of a module, a class or a function mean."""

    names: dict[str, str | None]
    """What a name means; None for what is no import."""
    outer: Scope | None = None
    is_class: bool = False
    """True if functions in it do not see its names."""
    package: str = ""
    """That relative imports start from."""
    imports: list[Import] = field(default_factory=list)
    """Its own."""

    def inner(
        self, nodes: Iterable[ast.AST], hidden: Iterable[str] = (), *, is_class: bool = False
    ) -> Scope:
        """Return the scope of a definition in this one; `hidden` are its parameters."""
        scope = Scope({}, self, is_class, self.package)
        scope.bind(nodes, hidden)
        return scope

    def bind(self, nodes: Iterable[ast.AST], hidden: Iterable[str] = ()) -> None:
        """Have names mean what statements say: imports first, then aliases, the rest hides names.

        Args:
            nodes: all statements of the scope.
            hidden: names that are bound before.
        """
        bound = Counter(hidden)
        aliases: dict[str, ast.expr] = {}
        elsewhere: set[str] = set()
        for node in own_nodes(nodes):
            match node:
                case ast.Import() | ast.ImportFrom():
                    self.imports += imports_by(node, self.package)
                case ast.Global() | ast.Nonlocal():
                    elsewhere.update(node.names)
                case ast.Assign(value=ast.Attribute() | ast.Name()):
                    aliases |= {t.id: node.value for t in node.targets if isinstance(t, ast.Name)}
                case _:
                    pass
            if isinstance(node, _BINDING):
                bound.update(bound_by(node))
        # The first of several imports of a name counts: the others are what it falls back to.
        meant = {
            one.local: one.meaning for one in reversed(self.imports) if one.local != EVERYTHING
        }
        self.names = dict.fromkeys(bound) | meant
        for name, value in aliases.items():
            # `act = F.relu` says what a name is where nothing else says it too.
            root, parts = chain(value)
            if name not in meant and bound[name] == 1 and root != name:
                meaning, _ = self.meaning(root)
                self.names[name] = ".".join([meaning, *parts]) if meaning else None
        for name in elsewhere:
            self.names.pop(name, None)

    def meaning(self, name: str) -> tuple[str | None, bool]:
        """Return what a name means and whether anything binds it."""
        scope: Scope | None = self
        is_inner = True
        while scope is not None:
            if name in scope.names and (is_inner or not scope.is_class):
                return scope.names[name], True
            scope, is_inner = scope.outer, False
        return None, False
