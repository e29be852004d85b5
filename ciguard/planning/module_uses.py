"""What one Python module uses: names followed through imports, aliases and scopes.

Static: nothing is imported or run. A name means what its nearest binding says: a parameter, an
assignment or a loop that reuses it hides the import.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BINDING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Name, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar, ast.MatchMapping),
)
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant)
_NEW_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


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


@dataclass(slots=True)
class _Scope:
    names: dict[str, str | None]
    """What a name means; None for what is no import."""
    outer: _Scope | None = None
    is_class: bool = False

    def meaning(self, name: str) -> tuple[str | None, bool]:
        """Return what a name means and whether anything binds it."""
        scope: _Scope | None = self
        is_inner = True
        while scope is not None:
            if name in scope.names and (is_inner or not scope.is_class):
                return scope.names[name], True
            scope, is_inner = scope.outer, False
        return None, False


def read_module(source: str | bytes, package: str = "") -> ModuleUses:
    """Return what a module uses.

    Args:
        source: its text; bytes in whatever encoding it declares.
        package: dotted name of the folder it is in, that relative imports start from.

    Raises:
        ValueError: if it is no Python of this interpreter, or nested too deep to be read.
    """
    try:
        reader = _Reader(package)
        reader.read(syntax_tree(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        msg = f"{type(error).__name__}{where}: {str(error).partition(chr(10))[0]}"
        raise ValueError(msg) from error
    return reader.found


def syntax_tree(source: str | bytes) -> ast.Module:
    """Parse, without Python's warnings: these are not our sources."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


class _Reader:
    """Walks a tree once, scope by scope, with a stack of its own: sources may be nested deeply."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._waiting: list[tuple[ast.AST, _Scope]] = []
        self.found = ModuleUses()

    def read(self, tree: ast.Module) -> None:
        scope = self._scope(tree.body, None)
        self.found.exports = {name: full for name, full in scope.names.items() if full}
        self.found.definitions = list(_definitions(tree.body))
        self._later(tree.body, scope)
        while self._waiting:
            self._visit(*self._waiting.pop())

    def _scope(
        self,
        nodes: Iterable[ast.AST],
        outer: _Scope | None,
        *,
        hidden: Iterable[str] = (),
        is_class: bool = False,
    ) -> _Scope:
        """Return the scope of some nodes: imports first, then aliases, the rest hides names."""
        names: dict[str, str | None] = dict.fromkeys(hidden)
        scope = _Scope(names, outer, is_class)
        bound = Counter(list(names))
        aliases: dict[str, ast.expr] = {}
        elsewhere: set[str] = set()
        imports: dict[str, str] = {}
        for node in _own_nodes(nodes):
            match node:
                case ast.Import() | ast.ImportFrom():
                    imports = dict(self._imported(node)) | imports
                case ast.Global() | ast.Nonlocal():
                    elsewhere.update(node.names)
                case ast.Assign(value=ast.Attribute() | ast.Name()):
                    aliases |= {t.id: node.value for t in node.targets if isinstance(t, ast.Name)}
                case _:
                    pass
            if isinstance(node, _BINDING):
                bound.update(_bound(node))
        names |= dict.fromkeys(bound) | imports
        for name, value in aliases.items():
            # `act = F.relu` says what a name is where nothing else says it too.
            if name not in imports and bound[name] == 1 and _chain(value)[0] != name:
                names[name] = self._meaning(value, scope)
        for name in elsewhere:
            names.pop(name, None)
        return scope

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.found.imports.add(alias.name.partition(".")[0])
                top = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (top, top)
            return
        module = self._absolute(node)
        self.found.imports.add(module.partition(".")[0])
        for alias in node.names:
            if alias.name == "*":
                self.found.stars.append(module)
            else:
                yield alias.asname or alias.name, f"{module}.{alias.name}".lstrip(".")

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self._package.split(".") if self._package else []
        base = parts[: max(0, len(parts) - node.level + 1)]
        return ".".join([*base, *([node.module] if node.module else [])])

    def _later(self, nodes: Iterable[ast.AST | None], scope: _Scope) -> None:
        self._waiting.extend((node, scope) for node in nodes if node is not None)

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
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
                inner = self._scope([node.body], scope, hidden=_parameters(node.args))
                self._later([*node.args.defaults, *node.args.kw_defaults], scope)
                self._later([node.body], inner)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                targets = [_stored(part.target) for part in node.generators]
                hidden = [name for names in targets for name in names]
                inner = _Scope(dict.fromkeys(hidden), scope)
                self._later(_children(node), inner)
            case ast.AnnAssign():
                self._later([node.target, node.value], scope)
            case _:
                self._later(_children(node), scope)

    def _call(self, node: ast.Call, scope: _Scope) -> None:
        if isinstance(node.func, ast.Attribute | ast.Name):
            self._name(node.func, scope, node, is_called=True)
        else:
            self._later([node.func], scope)
        self._later([*node.args, *node.keywords], scope)

    def _function(self, node: _Function, scope: _Scope) -> None:
        self.found.own_names.add(node.name)
        self._decorators(node, scope)
        self._later([*node.args.defaults, *node.args.kw_defaults], scope)
        inner = self._scope(node.body, scope, hidden=_parameters(node.args))
        self._later(node.body, inner)

    def _class(self, node: ast.ClassDef, scope: _Scope) -> None:
        self.found.own_names.add(node.name)
        self._decorators(node, scope)
        self._later([*node.bases, *node.keywords], scope)
        self._later(node.body, self._scope(node.body, scope, is_class=True))

    def _decorators(self, node: _Function | ast.ClassDef, scope: _Scope) -> None:
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Attribute | ast.Name):
                self._name(decorator, scope, decorator, is_called=True)
            else:
                self._later([decorator], scope)

    def _name(
        self, node: ast.Attribute | ast.Name, scope: _Scope, whole: ast.expr, *, is_called: bool
    ) -> None:
        root, parts = _chain(node)
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

    def _meaning(self, node: ast.expr, scope: _Scope) -> str | None:
        root, parts = _chain(node)
        meaning, _ = scope.meaning(root)
        return ".".join([meaning, *parts]) if meaning else None

    @staticmethod
    def _note(kept: list[Use], name: str, whole: ast.expr, *, is_called: bool) -> None:
        last = whole.end_lineno or whole.lineno
        kept.append(Use(name, whole.lineno, last, is_called))


def _own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes of a scope, those of scopes inside left out."""
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.comprehension):
            waiting.extend([*node.ifs, node.iter])  # its target is bound inside only
        elif not isinstance(node, _NEW_SCOPES):
            waiting.extend(_children(node)[::-1])


def _children(node: ast.AST) -> list[ast.AST]:
    """Return what a node is made of, without what holds no name: most nodes are such."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
            found.append(value)
    return found


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds, imports apart."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Name(ctx=ast.Store() | ast.Del()):
            yield node.id
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case _:
            return


def _stored(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _parameters(arguments: ast.arguments) -> list[str]:
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    starred = [item for item in (arguments.vararg, arguments.kwarg) if item]
    return [item.arg for item in (*given, *starred)]


def _chain(node: ast.expr) -> tuple[str, list[str]]:
    """Return root and attributes of `a.b.c`; the root is empty where it is no name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), parts[::-1]


def _innermost(node: ast.Attribute) -> ast.expr:
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return inner


def _definitions(body: Iterable[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, _Function | ast.ClassDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield Definition(node.name, first, node.end_lineno or node.lineno)
