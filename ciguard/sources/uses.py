"""Uses of imported names in one module, followed through imports, aliases and scopes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.sources.imports import ALL_NAMES
from ciguard.sources.names import chain
from ciguard.sources.parsing import parse
from ciguard.sources.scopes import Function, Scope, children, parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a name."""

    name: str
    """Qualified name, e.g. `torch.nn.functional.relu` or `mine.layers.Block`."""
    line: int
    """Line number of the use, from 1."""
    last_line: int
    """Number of the last line of the use, or of the call if the name is called."""
    is_called: bool
    """True if the name is called, or used as a decorator."""


@dataclass(frozen=True, slots=True)
class Definition:
    """Location of a function or class at the module's top level."""

    name: str
    """Name of the function or class."""
    line: int
    """Number of its first line, from 1, with decorators."""
    last_line: int
    """Number of its last line."""


@dataclass(slots=True)
class ModuleUses:
    """Uses, imports and definitions of one module."""

    uses: list[Use] = field(default_factory=list)
    """Uses of imported names."""
    methods: list[Use] = field(default_factory=list)
    """Method calls on unknown objects; `name` is the method's name."""
    exports: dict[str, str] = field(default_factory=dict)
    """Qualified names of imports by name in the module, which other modules may import in turn."""
    star_imports: list[str] = field(default_factory=list)
    """Names of the modules from which all names are imported (`from a import *`)."""
    unbound: list[Use] = field(default_factory=list)
    """Uses of unbound names, which may come from star imports."""
    imports: set[str] = field(default_factory=set)
    """Names of imported top-level modules."""
    definitions: list[Definition] = field(default_factory=list)
    """Functions and classes at the module's top level."""
    defined_names: set[str] = field(default_factory=set)
    """Names of all functions, classes and attributes that the module defines."""


def read_module(source: str | bytes, package: str = "") -> ModuleUses:
    """Return the uses, imports and definitions of a module.

    Args:
        source: text, or bytes in the encoding that they declare.
        package: dotted name of the module's package, for relative imports.

    Raises:
        UnreadableSourceError: if the source is invalid for this interpreter, or nested too deeply.
    """
    reader = _ScopeReader(package)
    reader.read(parse(source))
    return reader.module


class _ScopeReader:
    """Visitor of a module's nodes and their scopes, without recursion for deeply nested sources."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._pending: list[tuple[ast.AST, Scope]] = []
        self.module = ModuleUses()

    def read(self, tree: ast.Module) -> None:
        scope = Scope({}, package=self._package)
        scope.bind(tree.body)
        self._record_imports(scope)
        self.module.exports = {name: full for name, full in scope.names.items() if full}
        self.module.definitions = list(_definitions(tree.body))
        self._push(tree.body, scope)
        while self._pending:
            self._visit(*self._pending.pop())

    def _record_imports(self, scope: Scope) -> Scope:
        """Record the imports of a scope, and return the scope."""
        self.module.imports |= {item.module.partition(".")[0] for item in scope.imports}
        self.module.star_imports += [
            item.module for item in scope.imports if item.local == ALL_NAMES
        ]
        return scope

    def _push(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        self._pending.extend((node, scope) for node in nodes if node is not None)

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        """Record the uses in one node, and schedule its children."""
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
                inner = self._record_imports(scope.inner([node.body], parameters(node.args)))
                self._push([*node.args.defaults, *node.args.kw_defaults], scope)
                self._push([node.body], inner)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                targets = [_target_names(part.target) for part in node.generators]
                hidden = [name for names in targets for name in names]
                inner = Scope(dict.fromkeys(hidden), scope)
                self._push(children(node), inner)
            case ast.AnnAssign():
                self._push([node.target, node.value], scope)
            case _:
                self._push(children(node), scope)

    def _call(self, node: ast.Call, scope: Scope) -> None:
        if isinstance(node.func, ast.Attribute | ast.Name):
            self._name(node.func, scope, node, is_called=True)
        else:
            self._push([node.func], scope)
        self._push([*node.args, *node.keywords], scope)

    def _function(self, node: Function, scope: Scope) -> None:
        self.module.defined_names.add(node.name)
        self._decorators(node, scope)
        self._push([*node.args.defaults, *node.args.kw_defaults], scope)
        inner = self._record_imports(scope.inner(node.body, parameters(node.args)))
        self._push(node.body, inner)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        self.module.defined_names.add(node.name)
        self._decorators(node, scope)
        self._push([*node.bases, *node.keywords], scope)
        self._push(node.body, self._record_imports(scope.inner(node.body, is_class=True)))

    def _decorators(self, node: Function | ast.ClassDef, scope: Scope) -> None:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Attribute | ast.Name):
                self._name(decorator, scope, decorator, is_called=True)
            else:
                self._push([decorator], scope)

    def _name(
        self, node: ast.Attribute | ast.Name, scope: Scope, expression: ast.expr, *, is_called: bool
    ) -> None:
        """Record the use of a dotted name; `expression` is the call if it is called."""
        root, parts = chain(node)
        if not root:
            assert isinstance(node, ast.Attribute)  # noqa: S101 - a name always has a root
            if is_called:
                self._record(self.module.methods, parts[-1], expression, is_called=True)
            self._push([_innermost(node)], scope)
            return
        if not isinstance(node.ctx, ast.Load):
            self.module.defined_names.update(parts[-1:])
            return
        qualified_root, is_bound = scope.lookup(root)
        if qualified_root is not None:
            name = ".".join([qualified_root, *parts])
            self._record(self.module.uses, name, expression, is_called=is_called)
        elif not is_bound:
            name = ".".join([root, *parts])
            self._record(self.module.unbound, name, expression, is_called=is_called)
        is_method_of_self = root in {"self", "cls"} and len(parts) == 1
        if qualified_root is None and is_called and parts and not is_method_of_self:
            self._record(self.module.methods, parts[-1], expression, is_called=True)

    @staticmethod
    def _record(uses: list[Use], name: str, expression: ast.expr, *, is_called: bool) -> None:
        last_line = expression.end_lineno or expression.lineno
        uses.append(Use(name, expression.lineno, last_line, is_called))


def _target_names(target: ast.AST) -> Iterator[str]:
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
