"""An application's files, read; none of it is run."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from ciguard.errors import ConfigurationError
from ciguard.levels.app.static_analysis.conditions import literals_of
from ciguard.levels.app.static_analysis.constructing import annotated_fields, constructor_of
from ciguard.levels.app.static_analysis.requested import read_of_event, requested
from ciguard.sources import (
    Imports,
    UnreadableSourceError,
    files_below,
    import_root,
    imports_of,
    may_change,
    module_name,
    parse_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.levels.app.static_analysis.conditions import Literal

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_DEPTH = 120
MAIN = "<module>"
"""Names what a file does when it is run or imported."""


_MAX_TEXT_LENGTH, _MAX_TEXTS = 40, 40


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that could not be read, and why."""

    file: str
    reason: str


def _no_arguments() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


@dataclass(frozen=True, slots=True)
class Routine:
    """A function, a method, or what a file does itself."""

    name: str
    """Dotted, within its module: `Camera.watch`, `watch.<locals>.inner`; `MAIN` of the file."""
    body: Sequence[ast.stmt]
    line: int
    arguments: ast.arguments = field(default_factory=_no_arguments)
    owner: str = ""
    """The class that it is a method of, by its name within the module."""
    outer: str = ""
    """The function that it stands in."""
    is_bound: bool = False
    """Whether it is called with its object or class before the arguments."""
    is_of_class: bool = False
    """Whether that is its class."""
    is_routed: bool = False
    """Whether a decorator has it answer requests to an address."""
    constructor: ast.arguments | None = None
    """Of a method that is called with its object: what that is made with, itself first."""
    request: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Parts of the web request that it answers, and which fields of each it reads."""
    event: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Likewise of the event that it is handed."""

    def parameters(self) -> tuple[str, ...]:
        """Return the names of its parameters, in the order of a call, the object itself first."""
        return tuple(one.arg for one in self._all())

    def annotations(self) -> tuple[tuple[str, ast.expr], ...]:
        """Return the names of parameters that say what they are, each with what it says."""
        return tuple((one.arg, one.annotation) for one in self._all() if one.annotation is not None)

    @property
    def receiver(self) -> str:
        """The name of the object, or class, that it is called with; empty if it has none."""
        several = (*self.arguments.posonlyargs, *self.arguments.args)
        return several[0].arg if several and self.is_bound else ""

    def positional(self) -> tuple[str, ...]:
        """Return the names of those that a call need not name, without the object itself."""
        several = (*self.arguments.posonlyargs, *self.arguments.args)
        return tuple(one.arg for one in several[1 if self.is_bound else 0 :])

    def rest(self) -> tuple[str, ...]:
        """Return the names of its catch-all parameters."""
        return tuple(one.arg for one in (self.arguments.vararg, self.arguments.kwarg) if one)

    def _all(self) -> tuple[ast.arg, ...]:
        given = self.arguments
        return (*given.posonlyargs, *given.args, *given.kwonlyargs)


@dataclass(frozen=True, slots=True)
class ApplicationModule:
    """One file."""

    name: str
    """By which others import it."""
    file: str
    """Below the application's folder, with slashes."""
    names: Imports
    routines: tuple[Routine, ...]
    classes: dict[str, tuple[str, ...]]
    """Name within the module → qualified names of its bases."""
    constants: dict[str, tuple[Literal, ...]]
    """Variable of the module that is set once → the literals that it holds, of a dictionary its
    keys."""
    texts: tuple[str, ...] = ()
    """Short ones that its variables hold, however deep."""
    variables: tuple[str, ...] = ()
    """Of the environment, that it reads by their names."""
    needed: frozenset[str] = frozenset()
    """Those among them without which it fails."""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name of a class → those that its body annotates, which a generated constructor takes."""


@dataclass(frozen=True, slots=True)
class Application:
    """All files that could be read."""

    root: Path
    modules: tuple[ApplicationModule, ...]
    unread: tuple[Unread, ...]


def read_application(path: Path) -> Application:
    """Read an application.

    Args:
        path: its folder, or its only file. Environments and hidden folders in it are passed over.

    Raises:
        ConfigurationError: if there is no such path, or no Python file.
    """
    if not _exists(path):
        msg = f"{path}: no such file or folder. Name an application's folder, or its one file."
        raise ConfigurationError(msg)
    path = path.resolve()
    root = import_root(path if path.is_dir() else path.parent)
    modules: list[ApplicationModule] = []
    unread: list[Unread] = []
    seen: set[Path] = set()
    for file in _files(path):
        if file.resolve() in seen:
            continue  # another name of the same file
        seen.add(file.resolve())
        name = file.relative_to(root).as_posix()
        read = _module(file, name)
        if isinstance(read, ApplicationModule):
            modules.append(read)
        else:
            unread.append(read)
    if not modules and not unread:
        msg = f"{path}: no Python file in it. Name the folder of an application in Python."
        raise ConfigurationError(msg)
    return Application(root, tuple(modules), tuple(unread))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long
        return False


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in files_below(path):
        # A pipe would be waited for; a link to nothing is told of.
        if file.suffix == ".py" and (file.is_file() or not file.exists()):
            yield file


def _module(file: Path, name: str) -> ApplicationModule | Unread:
    try:
        tree = parse_file(file)
    except UnreadableSourceError as error:
        if not error.line:
            return Unread(name, f"cannot be read: {error.reason}")
        what = "is no Python 3 as this interpreter reads it"
        return Unread(name, f"{what}: line {error.line}: {error.reason}")
    except OSError as error:
        return Unread(name, f"cannot be read: {error}")
    if _depth(tree) > _MAX_DEPTH:
        return Unread(name, "nested too deeply to be followed")
    package = name.rpartition("/")[0].replace("/", ".")
    names = imports_of(tree, package, _beside(file.parent) if package else ())
    definitions = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
    return ApplicationModule(
        name=module_name(name),
        file=name,
        names=names,
        routines=tuple(_routines(tree, names)),
        classes={
            one.name: tuple(filter(None, (names.qualified(base) for base in one.bases)))
            for one in definitions
        },
        constants=_constants(tree),
        texts=_texts(tree),
        variables=tuple(dict.fromkeys(name for name, _ in _of_environment(tree))),
        needed=frozenset(name for name, is_needed in _of_environment(tree) if is_needed),
        fields={
            one.name: tuple(ast.unparse(field.target) for field in annotated_fields(one))
            for one in definitions
        },
    )


@cache
def _beside(folder: Path) -> frozenset[str]:
    """Return the modules that a script in a folder finds there; none in a package."""
    if (folder / "__init__.py").exists():
        return frozenset()
    return frozenset(file.stem for file in folder.glob("*.py"))


def _depth(tree: ast.AST) -> int:
    """Return how deeply a tree is nested; a long `elif` chain or sum is as deep as it is long."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _constants(tree: ast.Module) -> dict[str, tuple[Literal, ...]]:
    stored = Counter(name for one in ast.walk(tree) for name in may_change(one))
    found = {}
    for name, value in _variables(tree):
        literals = literals_of(value)
        if literals is not None and stored[name] == 1:
            found[name] = literals
    return found


def _variables(tree: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for statement in tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                yield name, value
            case _:
                pass


def _of_environment(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield the variables that are read, and whether by what fails where there is none."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Call(
                    func=ast.Attribute(attr="getenv")
                    | ast.Name(id="getenv")
                    | ast.Attribute(value=ast.Attribute(attr="environ"), attr="get")
                    | ast.Attribute(value=ast.Name(id="environ"), attr="get"),
                    args=[ast.Constant(value=str(name)), *_],
                )
                | ast.Subscript(
                    value=ast.Attribute(attr="environ") | ast.Name(id="environ"),
                    slice=ast.Constant(value=str(name)),
                )
            ):
                yield name, isinstance(node, ast.Subscript)
            case _:
                continue


def _texts(tree: ast.Module) -> tuple[str, ...]:
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
    values = [value for _, value in _variables(tree)]
    values += [value for one in classes for _, value in _variables(one)]
    nodes = (node for value in values for node in ast.walk(value))
    texts = (one.value for one in nodes if isinstance(one, ast.Constant))
    short = (one for one in texts if isinstance(one, str) and 0 < len(one) <= _MAX_TEXT_LENGTH)
    return tuple(dict.fromkeys(short))[:_MAX_TEXTS]


def _routines(tree: ast.Module, names: Imports) -> Iterator[Routine]:
    yield Routine(MAIN, tree.body, 1)
    classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    constructors = {name: constructor_of(one, classes) for name, one in classes.items()}
    for one in _inside(tree.body, prefix="", owner="", outer=""):
        is_of_object = one.is_bound and not one.is_of_class
        made = constructors.get(one.owner) if is_of_object and not one.outer else None
        request = requested(one.body, one.arguments, names)
        if one.is_routed and not request and names.imports("flask"):
            request = {"args": ()}
        event = read_of_event(one.body, one.arguments, names)
        yield replace(one, constructor=made, request=request, event=event)


def _inside(body: Sequence[ast.stmt], *, prefix: str, owner: str, outer: str) -> Iterator[Routine]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _routine(node, prefix=prefix, owner=owner, outer=outer)
            case ast.ClassDef(name=name, body=inner):
                yield from _inside(inner, prefix=f"{prefix}{name}.", owner=name, outer=outer)
            case _:
                for part in _blocks(node):
                    yield from _inside(part, prefix=prefix, owner=owner, outer=outer)


def _routine(node: Function, *, prefix: str, owner: str, outer: str) -> Iterator[Routine]:
    decorators = {ast.unparse(one) for one in node.decorator_list}
    name = f"{prefix}{node.name}"
    yield Routine(
        name,
        node.body,
        node.lineno,
        node.args,
        owner,
        outer,
        is_bound=bool(owner) and "staticmethod" not in decorators,
        is_of_class="classmethod" in decorators,
        is_routed=any(".route(" in one for one in decorators),
    )
    yield from _inside(node.body, prefix=f"{name}.<locals>.", owner="", outer=name)


def _blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """Yield the blocks of a compound statement that is no definition."""
    for part in ("body", "orelse", "finalbody"):
        yield getattr(node, part, [])
    for handler in getattr(node, "handlers", []):
        yield handler.body
    for case in getattr(node, "cases", []):
        yield case.body
