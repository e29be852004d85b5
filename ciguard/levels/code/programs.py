"""A program's text as a syntax tree with numbered nodes, and the names that it imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.code.syntax import spelling
from ciguard.sources import Function, imports_of, names_bound_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.code.dialects import Dialect
    from ciguard.sources import Imports


@dataclass(slots=True)
class Program:
    """One parsed program. A node has the same number each time that the text is parsed."""

    source: str
    """Text of the program."""
    dialect: Dialect
    """Dialect of the program's library."""
    tree: ast.Module = field(init=False)
    nodes: list[ast.AST] = field(init=False)
    """All nodes of the tree as parsed; a node's number is its index."""
    imports: Imports = field(init=False)
    """Imports of the program, with names that are assigned to imported ones."""
    bound_names: set[str] = field(init=False)
    """All names that the program binds."""
    parents: dict[int, ast.AST] = field(init=False, default_factory=dict)
    """Parent of a node, by the `id` of the child."""
    numbers: dict[int, int] = field(init=False)
    """Number of a node, by its `id`."""

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.source)
        self.nodes = list(ast.walk(self.tree))
        self.numbers = {id(node): number for number, node in enumerate(self.nodes)}
        self.imports = imports_of(self.tree).with_aliases(self.tree)
        self.bound_names = {name for node in self.nodes for name in names_bound_by(node)}
        self.adopt(self.tree)

    def adopt(self, node: ast.AST) -> None:
        """Record the parent of each node below a node."""
        for parent in ast.walk(node):
            self.parents |= {id(child): parent for child in ast.iter_child_nodes(parent)}

    @property
    def classes(self) -> dict[str, ast.ClassDef]:
        """Classes at the top level of the program."""
        return {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}

    @property
    def functions(self) -> dict[str, Function]:
        """Functions at the top level of the program."""
        return {node.name: node for node in self.tree.body if isinstance(node, Function)}

    def spelling(self, api: str) -> tuple[str, str]:
        """Return the program's spelling of a qualified name, and the import that it lacks.

        The import is a statement; it is empty if no import is missing.
        """
        return spelling(api, self.imports.imported_names, self.bound_names)

    def api(self, node: ast.AST) -> str:
        """Return the qualified name of the library API that a node calls; empty without one."""
        name = self.imports.imported(node.func) if isinstance(node, ast.Call) else ""
        return name if name and self.dialect.owns(name) else ""

    def is_container(self, node: ast.AST) -> bool:
        """Return whether a node creates a container of layers, as `nn.Sequential(…)` does."""
        if not isinstance(node, ast.Call):
            return False
        name = self.imports.imported(node.func)
        return name.rpartition(".")[2] in self.dialect.conventions.containers

    def is_sequence(self, node: ast.AST) -> bool:
        """Return whether a node creates a `Sequential`."""
        return self.api(node).rpartition(".")[2] == "Sequential"

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the ancestors of a node, the nearest first."""
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the innermost statement that contains a node; for a statement, itself."""
        if isinstance(node, ast.stmt):
            return node
        return next(ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, ast.stmt))

    def body(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the list of statements that contains a statement."""
        parent = self.parents[id(statement)]
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(child is statement for child in value):
                return value
        msg = f"line {statement.lineno} is in no list of statements"
        raise AssertionError(msg)

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the innermost function that contains a node; None if there is none."""
        return next(
            (ancestor for ancestor in self.ancestors(node) if isinstance(ancestor, Function)), None
        )

    def is_model_class(self, node: ast.ClassDef) -> bool:
        """Return whether a class is a subclass of a model or layer, perhaps an indirect one."""
        for base in node.bases:
            if self.dialect.is_base(self.imports.imported(base)):
                return True
            parent = self.classes.get(base.id) if isinstance(base, ast.Name) else None
            if parent is not None and parent is not node and self.is_model_class(parent):
                return True
        return False

    def calls_of(self, name: str) -> list[ast.Call]:
        """Return the calls of one of the program's classes or functions, by its name."""
        return [
            node
            for node in self.nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == name
        ]


def method_of(node: ast.ClassDef, name: str) -> Function | None:
    """Return a method of a class; None if the class does not define it."""
    methods = (child for child in node.body if isinstance(child, Function) and child.name == name)
    return next(methods, None)


def elements_of(sequence: ast.Call) -> list[ast.expr]:
    """Return the list of the elements of a `Sequential`: the node's own list, not a copy.

    For `Sequential(a, b)`, it is the list of arguments. For `Sequential([a, b])` and
    `Sequential(OrderedDict([…]))`, it is the inner list.
    """
    values = [item.value for item in sequence.keywords if item.arg == "layers"]
    match [*sequence.args, *values]:
        case [ast.List(elts=elements)]:
            return elements
        case [ast.Call(args=[ast.List(elts=elements)])] if not values and _is_ordered(sequence):
            return elements
        case _:
            return sequence.args


def _is_ordered(sequence: ast.Call) -> bool:
    """Return whether the only argument of a `Sequential` is an `OrderedDict(…)`."""
    match sequence.args:
        case [ast.Call(func=ast.Name(id="OrderedDict") | ast.Attribute(attr="OrderedDict"))]:
            return True
        case _:
            return False


def layer_of(element: ast.expr) -> ast.expr:
    """Return the layer of an element of a `Sequential`; an element may be a pair (name, layer)."""
    match element:
        case ast.Tuple(elts=[_, layer]):
            return layer
        case _:
            return element
