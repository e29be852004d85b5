"""What one module uses: names followed through imports, aliases and scopes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.sources.imports import EVERYTHING
from ciguard.sources.names import chain
from ciguard.sources.parsing import parse
from ciguard.sources.scopes import Function, Scope, children, parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Use:
    """A place where something imported is used."""

    name: str
    """Qualified by what was imported, e.g. `torch.nn.functional.relu` or `mine.layers.Block`."""
    line: int
    last_line: int
    """Of the whole call, where it is called."""
    is_called: bool


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class of the module's top level: where it stands."""

    name: str
    line: int
    last_line: int


@dataclass(slots=True)
class ModuleUses:
    """What was read of one module."""

    uses: list[Use] = field(default_factory=list)
    methods: list[Use] = field(default_factory=list)
    """Calls of a method of something unknown; `name` is the method's."""
    exports: dict[str, str] = field(default_factory=dict)
    """What the module binds to imported names, so that others may import it from here."""
    stars: list[str] = field(default_factory=list)
    """Modules that everything is imported from."""
    unbound: list[Use] = field(default_factory=list)
    """Names that nothing binds: of a module with stars, they may come from there."""
    imports: set[str] = field(default_factory=set)
    """Top-level modules that are imported anywhere."""
    definitions: list[Definition] = field(default_factory=list)
    own_names: set[str] = field(default_factory=set)
    """Functions, classes and attributes that are defined here: their calls are no library's."""


def read_module(source: str | bytes, package: str = "") -> ModuleUses:
    """Return what a module uses.

    Args:
        source: its text; bytes in whatever encoding it declares.
        package: dotted name of the folder it is in, that relative imports start from.

    Raises:
        UnreadableSourceError: if it is no Python of this interpreter, or nested too deep.
    """
    reader = _ScopeReader(package)
    reader.read(parse(source))
    return reader.found


class _ScopeReader:
    """Walks a tree once, scope by scope, with a stack of its own: sources may be nested deeply."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._waiting: list[tuple[ast.AST, Scope]] = []
        self.found = ModuleUses()

    def read(self, tree: ast.Module) -> None:
        scope = Scope({}, package=self._package)
        scope.bind(tree.body)
        self._noted(scope)
        self.found.exports = {name: full for name, full in scope.names.items() if full}
        self.found.definitions = list(_definitions(tree.body))
        self._later(tree.body, scope)
        while self._waiting:
            self._visit(*self._waiting.pop())

    def _noted(self, scope: Scope) -> Scope:
        self.found.imports |= {one.module.partition(".")[0] for one in scope.imports}
        self.found.stars += [one.module for one in scope.imports if one.local == EVERYTHING]
        return scope

    def _later(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        self._waiting.extend((node, scope) for node in nodes if node is not None)

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Call():
                self._call(node, scope)
            case ast.Attribute() | ast.Name():
                self._name(node, scope, node, is_called=False)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope)
            case ast.ClassDef():
                self._class(node, scope)
            case ast.Lambda():
                inner = self._noted(scope.inner([node.body], parameters(node.args)))
                self._later([*node.args.defaults, *node.args.kw_defaults], scope)
                self._later([node.body], inner)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                targets = [_stored(part.target) for part in node.generators]
                hidden = [name for names in targets for name in names]
                inner = Scope(dict.fromkeys(hidden), scope)
                self._later(children(node), inner)
            case ast.AnnAssign():
                self._later([node.target, node.value], scope)
            case _:
                self._later(children(node), scope)

    def _call(self, node: ast.Call, scope: Scope) -> None:
        if isinstance(node.func, ast.Attribute | ast.Name):
            self._name(node.func, scope, node, is_called=True)
        else:
            self._later([node.func], scope)
        self._later([*node.args, *node.keywords], scope)

    def _function(self, node: Function, scope: Scope) -> None:
        self.found.own_names.add(node.name)
        self._decorators(node, scope)
        self._later([*node.args.defaults, *node.args.kw_defaults], scope)
        inner = self._noted(scope.inner(node.body, parameters(node.args)))
        self._later(node.body, inner)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self.found.own_names.add(node.name)
        self._decorators(node, scope)
        self._later([*node.bases, *node.keywords], scope)
        self._later(node.body, self._noted(scope.inner(node.body, is_class=True)))

    def _decorators(self, node: Function | ast.ClassDef, scope: Scope) -> None:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Attribute | ast.Name):
                self._name(decorator, scope, decorator, is_called=True)
            else:
                self._later([decorator], scope)

    def _name(
        self, node: ast.Attribute | ast.Name, scope: Scope, whole: ast.expr, *, is_called: bool
    ) -> None:
        root, parts = chain(node)
        if not root:
            assert isinstance(node, ast.Attribute)  # noqa: S101 - a chain without a name at its root
            if is_called:
                self._note(self.found.methods, parts[-1], whole, is_called=True)
            self._later([_innermost(node)], scope)
            return
        if not isinstance(node.ctx, ast.Load):
            self.found.own_names.update(parts[-1:])
            return
        meaning, is_bound = scope.meaning(root)
        if meaning is not None:
            name = ".".join([meaning, *parts])
            self._note(self.found.uses, name, whole, is_called=is_called)
        elif not is_bound:
            name = ".".join([root, *parts])
            self._note(self.found.unbound, name, whole, is_called=is_called)
        is_own = root in {"self", "cls"} and len(parts) == 1
        if meaning is None and is_called and parts and not is_own:
            self._note(self.found.methods, parts[-1], whole, is_called=True)

    @staticmethod
    def _note(kept: list[Use], name: str, whole: ast.expr, *, is_called: bool) -> None:
        last = whole.end_lineno or whole.lineno
        kept.append(Use(name, whole.lineno, last, is_called))


def _stored(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _innermost(node: ast.Attribute) -> ast.expr:
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return inner


def _definitions(body: Iterable[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, Function | ast.ClassDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield Definition(node.name, first, node.end_lineno or node.lineno)
