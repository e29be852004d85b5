"""Parsing of an application's files; none of its code is run."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from ciguard.errors import ConfigurationError
from ciguard.levels.app.static_analysis.conditions import literals_of
from ciguard.levels.app.static_analysis.constructors import annotated_fields, constructor_of
from ciguard.levels.app.static_analysis.django import (
    DjangoProject,
    is_django,
    named_settings,
    project_of,
)
from ciguard.levels.app.static_analysis.request_reads import (
    Field,
    event_reads,
    request_reads,
)
from ciguard.sources import (
    Imports,
    UnreadableSourceError,
    files_below,
    import_root,
    imports_of,
    module_name,
    names_changed_by,
    parse_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.levels.app.static_analysis.conditions import Literal

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_PYTHON_2 = re.compile(
    "Missing parentheses in call to|multiple exception types must be parenthesized|leading zeros"
)
"""Reasons for which Python 3 does not read a file of Python 2."""
_MAX_DEPTH = 120
"""Maximum depth of a syntax tree; a deeper one could exceed Python's recursion limit."""
MAIN = "<module>"
"""Name of a file's top-level code as a routine."""
_MAX_TEXT_LENGTH, _MAX_TEXTS = 40, 40
"""Limits of `ApplicationModule.texts`."""


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file that could not be read, and the reason."""

    file: str
    reason: str


def _no_arguments() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


@dataclass(frozen=True, slots=True)
class Routine:
    """A function, a method, or the top-level code of a file."""

    name: str
    """Name within the module, such as `Camera.watch`, `watch.<locals>.inner` or `MAIN`."""
    body: Sequence[ast.stmt]
    line: int
    arguments: ast.arguments = field(default_factory=_no_arguments)
    owner: str = ""
    """Class of a method, by its name within the module; empty for other routines."""
    outer: str = ""
    """Name of the enclosing function; empty if there is none."""
    is_bound: bool = False
    """True for methods, whose first parameter is the instance or the class."""
    is_class_method: bool = False
    """True for class methods."""
    is_routed: bool = False
    """True if a decorator such as `@app.route(…)` makes the routine a view."""
    is_of_django: bool = False
    """True if the request that the routine gets is Django's."""
    constructor: ast.arguments | None = None
    """Parameters of the class's constructor, `self` first; None unless it is an instance method."""
    request: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)
    """Part of the web request that the routine reads → fields of the part that it reads."""
    event: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)
    """Part of the cloud event that the routine reads → fields of the part that it reads."""

    def parameters(self) -> tuple[str, ...]:
        """Return the names of all parameters in order, including `self`."""
        return tuple(parameter.arg for parameter in self._parameters())

    def annotations(self) -> tuple[tuple[str, ast.expr], ...]:
        """Return (name, annotation) of each annotated parameter."""
        return tuple(
            (parameter.arg, parameter.annotation)
            for parameter in self._parameters()
            if parameter.annotation is not None
        )

    @property
    def receiver(self) -> str:
        """Name of the parameter for the instance or the class; empty if there is none."""
        parameters = (*self.arguments.posonlyargs, *self.arguments.args)
        return parameters[0].arg if parameters and self.is_bound else ""

    def positional(self) -> tuple[str, ...]:
        """Return the names of the positional parameters, without `self`."""
        parameters = (*self.arguments.posonlyargs, *self.arguments.args)
        return tuple(parameter.arg for parameter in parameters[1 if self.is_bound else 0 :])

    def catch_all_parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters `*args` and `**kwargs`, if they exist."""
        return tuple(
            parameter.arg
            for parameter in (self.arguments.vararg, self.arguments.kwarg)
            if parameter
        )

    def _parameters(self) -> tuple[ast.arg, ...]:
        arguments = self.arguments
        return (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)


@dataclass(frozen=True, slots=True)
class ApplicationModule:
    """One parsed file of an application."""

    name: str
    """Name by which other modules import it."""
    file: str
    """Path relative to the application's folder, with slashes."""
    names: Imports
    routines: tuple[Routine, ...]
    classes: dict[str, tuple[str, ...]]
    """Name within the module → qualified names of its bases."""
    constants: dict[str, tuple[Literal, ...]]
    """Global variable that is assigned once → its literals, or the keys of its dictionary."""
    texts: tuple[str, ...] = ()
    """Short strings in the values of global and class variables."""
    variables: tuple[str, ...] = ()
    """Names of the environment variables that the module reads."""
    required_variables: frozenset[str] = frozenset()
    """Environment variables that are read without a default, as in `os.environ["X"]`."""
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Class → its annotated fields, which are the parameters of a generated constructor."""
    django_settings: str = ""
    """Module of Django's settings that the file names, as `manage.py` does."""


@dataclass(frozen=True, slots=True)
class Application:
    """The parsed files of an application."""

    root: Path
    modules: tuple[ApplicationModule, ...]
    """Files that could be parsed."""
    unreadable_files: tuple[UnreadableFile, ...]

    @property
    def django(self) -> DjangoProject | None:
        """Project of Django that the files are; None if none of them imports Django."""
        if not any(is_django(module.names) for module in self.modules):
            return None
        return project_of({module.file: module.django_settings for module in self.modules})


def read_application(path: Path) -> Application:
    """Read an application.

    Args:
        path: the application's folder or only file. Virtual environments and hidden folders in it
            are skipped.

    Raises:
        ConfigurationError: if the path does not exist or holds no Python file.
    """
    if not _exists(path):
        msg = f"{path}: not found. Name the folder of an application, or its only file."
        raise ConfigurationError(msg)
    path = path.resolve()
    root = import_root(path if path.is_dir() else path.parent)
    modules: list[ApplicationModule] = []
    unreadable_files: list[UnreadableFile] = []
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
            unreadable_files.append(read)
    if not modules and not unreadable_files:
        msg = f"{path} contains no Python file. Name the folder of a Python application."
        raise ConfigurationError(msg)
    return Application(root, tuple(modules), tuple(unreadable_files))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # for example, the name is too long
        return False


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in files_below(path):
        # Reading a pipe would block; a broken link is kept, to be reported as unreadable.
        if file.suffix == ".py" and (file.is_file() or not file.exists()):
            yield file


def _module(file: Path, name: str) -> ApplicationModule | UnreadableFile:
    try:
        tree = parse_file(file)
    except UnreadableSourceError as error:
        if not error.line:
            return UnreadableFile(name, f"cannot be read: {error.reason}")
        if _PYTHON_2.search(error.reason):
            problem = f"line {error.line} is Python 2 ({error.reason})"
            return UnreadableFile(name, f"{problem}; convert the file, such as with `2to3 -w`")
        problem = f"line {error.line} is not valid in this Python version"
        return UnreadableFile(name, f"{problem}: {error.reason}")
    except OSError as error:
        return UnreadableFile(name, f"cannot be read: {error}")
    if _depth(tree) > _MAX_DEPTH:
        return UnreadableFile(name, f"the code is nested more than {_MAX_DEPTH} levels deep")
    package = name.rpartition("/")[0].replace("/", ".")
    names = imports_of(tree, package, _modules_above(file.parent, package))
    definitions = [
        definition for definition in ast.walk(tree) if isinstance(definition, ast.ClassDef)
    ]
    return ApplicationModule(
        name=module_name(name),
        file=name,
        names=names,
        routines=tuple(_routines(tree, names)),
        classes={
            definition.name: tuple(
                filter(None, (names.qualified(base) for base in definition.bases))
            )
            for definition in definitions
        },
        constants=_constants(tree),
        texts=_texts(tree),
        variables=tuple(dict.fromkeys(name for name, _ in _environment_reads(tree))),
        required_variables=frozenset(
            name for name, is_needed in _environment_reads(tree) if is_needed
        ),
        fields={
            definition.name: tuple(
                ast.unparse(field.target) for field in annotated_fields(definition)
            )
            for definition in definitions
        },
        django_settings=named_settings(tree),
    )


def _modules_above(folder: Path, package: str) -> dict[str, str]:
    """Return the modules that a program started in a folder, or above, finds by their names.

    Args:
        folder: folder of a file.
        package: its dotted name, relative to the root; the root itself is left out.

    Returns:
        Top-level module → dotted name of the folder that has it, which is the nearest one.
    """
    found: dict[str, str] = {}
    while package:
        found = {**dict.fromkeys(_modules_in(folder), package), **found}
        folder, package = folder.parent, package.rpartition(".")[0]
    return found


@cache
def _modules_in(folder: Path) -> frozenset[str]:
    """Return the modules and packages in a folder; none if it is itself a package."""
    if (folder / "__init__.py").exists():
        return frozenset()
    packages = (file.parent.name for file in folder.glob("*/__init__.py"))
    return frozenset((*(file.stem for file in folder.glob("*.py")), *packages))


def _depth(tree: ast.AST) -> int:
    """Return the depth of a syntax tree; each branch of an `elif` chain adds to it."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _constants(tree: ast.Module) -> dict[str, tuple[Literal, ...]]:
    assignment_counts = Counter(name for node in ast.walk(tree) for name in names_changed_by(node))
    constants = {}
    for name, value in _variables(tree):
        literals = literals_of(value)
        if literals is not None and assignment_counts[name] == 1:
            constants[name] = literals
    return constants


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


def _environment_reads(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield each environment variable that is read, with True if the read has no default."""
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
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    values = [value for _, value in _variables(tree)]
    values += [value for node in classes for _, value in _variables(node)]
    nodes = (node for value in values for node in ast.walk(value))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    short = (text for text in texts if isinstance(text, str) and 0 < len(text) <= _MAX_TEXT_LENGTH)
    return tuple(dict.fromkeys(short))[:_MAX_TEXTS]


def _routines(tree: ast.Module, names: Imports) -> Iterator[Routine]:
    yield Routine(MAIN, tree.body, 1)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    constructors = {name: constructor_of(node, classes) for name, node in classes.items()}
    for routine in _nested_routines(tree.body, prefix="", owner="", outer=""):
        is_instance_method = routine.is_bound and not routine.is_class_method
        constructor = (
            constructors.get(routine.owner) if is_instance_method and not routine.outer else None
        )
        request = request_reads(routine.body, routine.arguments, names)
        if routine.is_routed and not request and names.imports("flask"):
            request = {"args": ()}
        event = event_reads(routine.body, routine.arguments, names)
        yield replace(
            routine,
            constructor=constructor,
            request=request,
            is_of_django=is_django(names),
            event=event,
        )


def _nested_routines(
    body: Sequence[ast.stmt], *, prefix: str, owner: str, outer: str
) -> Iterator[Routine]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _routine(node, prefix=prefix, owner=owner, outer=outer)
            case ast.ClassDef(name=name, body=inner):
                yield from _nested_routines(
                    inner, prefix=f"{prefix}{name}.", owner=name, outer=outer
                )
            case _:
                for block in _blocks(node):
                    yield from _nested_routines(block, prefix=prefix, owner=owner, outer=outer)


def _routine(node: Function, *, prefix: str, owner: str, outer: str) -> Iterator[Routine]:
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    name = f"{prefix}{node.name}"
    yield Routine(
        name,
        node.body,
        node.lineno,
        node.args,
        owner,
        outer,
        is_bound=bool(owner) and "staticmethod" not in decorators,
        is_class_method="classmethod" in decorators,
        is_routed=any(".route(" in decorator for decorator in decorators),
    )
    yield from _nested_routines(node.body, prefix=f"{name}.<locals>.", owner="", outer=name)


def _blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """Yield the blocks of a compound statement, such as the branches of an `if`."""
    for block in ("body", "orelse", "finalbody"):
        yield getattr(node, block, [])
    for handler in getattr(node, "handlers", []):
        yield handler.body
    for case in getattr(node, "cases", []):
        yield case.body
