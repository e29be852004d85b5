"""A program's text as a numbered tree: what stands where, and what its names mean."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.code.syntax import spelling
from ciguard.sources import Function, bound_by, imports_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.code.dialects import Dialect
    from ciguard.sources import Imports


@dataclass(slots=True)
class Program:
    """One program, parsed. Nodes are named by their numbers, the same at every parse of a text."""

    source: str
    dialect: Dialect
    tree: ast.Module = field(init=False)
    nodes: list[ast.AST] = field(init=False)
    imports: Imports = field(init=False)
    bound: set[str] = field(init=False)
    """Everything that the program calls something by."""
    parents: dict[int, ast.AST] = field(init=False, default_factory=dict)
    """By `id` of the child."""
    numbers: dict[int, int] = field(init=False)
    """By `id` of the node."""

    def __post_init__(self) -> None:
        self.tree = ast.parse(self.source)
        self.nodes = list(ast.walk(self.tree))
        self.numbers = {id(node): number for number, node in enumerate(self.nodes)}
        self.imports = imports_of(self.tree).with_aliases(self.tree)
        self.bound = {name for node in self.nodes for name in bound_by(node)}
        self.adopt(self.tree)

    def adopt(self, node: ast.AST) -> None:
        """Note what stands in what, everywhere below a node."""
        for one in ast.walk(node):
            self.parents |= {id(child): one for child in ast.iter_child_nodes(one)}

    @property
    def classes(self) -> dict[str, ast.ClassDef]:
        """Classes of the program's top level."""
        return {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}

    @property
    def functions(self) -> dict[str, Function]:
        """Functions of the program's top level."""
        return {node.name: node for node in self.tree.body if isinstance(node, Function)}

    def spelling(self, api: str) -> tuple[str, str]:
        """Return how the program writes a qualified name, and the import that it lacks, if any."""
        return spelling(api, self.imports.meanings, self.bound)

    def api(self, node: ast.AST) -> str:
        """Return the qualified name of what a call calls, if it is the library's; else nothing."""
        name = self.imports.imported(node.func) if isinstance(node, ast.Call) else ""
        return name if name and self.dialect.owns(name) else ""

    def is_container(self, node: ast.AST) -> bool:
        """Return whether a node makes something that layers are put into, as `nn.Sequential(…)`."""
        if not isinstance(node, ast.Call):
            return False
        name = self.imports.imported(node.func)
        return name.rpartition(".")[2] in self.dialect.style.containers

    def is_sequence(self, node: ast.AST) -> bool:
        """Return whether a node makes a `Sequential`."""
        return self.api(node).rpartition(".")[2] == "Sequential"

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what a node stands in, the nearest first."""
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the statement that a node is, or stands in."""
        if isinstance(node, ast.stmt):
            return node
        return next(one for one in self.above(node) if isinstance(one, ast.stmt))

    def body(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the list of statements that one belongs to."""
        parent = self.parents[id(statement)]
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(one is statement for one in value):
                return value
        msg = f"line {statement.lineno} is a statement of no body"
        raise AssertionError(msg)

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the function that a node stands in, if it does."""
        return next((one for one in self.above(node) if isinstance(one, Function)), None)

    def is_model_class(self, node: ast.ClassDef) -> bool:
        """Return whether a class is a model or a layer, perhaps through another of the program."""
        for base in node.bases:
            if self.dialect.is_base(self.imports.imported(base)):
                return True
            own = self.classes.get(base.id) if isinstance(base, ast.Name) else None
            if own is not None and own is not node and self.is_model_class(own):
                return True
        return False

    def calls_of(self, name: str) -> list[ast.Call]:
        """Return the calls of a class or function of the program."""
        return [
            node
            for node in self.nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == name
        ]


def method_of(node: ast.ClassDef, name: str) -> Function | None:
    """Return a method of a class."""
    found = (one for one in node.body if isinstance(one, Function) and one.name == name)
    return next(found, None)


def elements_of(sequence: ast.Call) -> list[ast.expr]:
    """Return the list of layers that a `Sequential` is made with: the program's own, not a copy.

    For `Sequential(a, b)` its arguments, for `Sequential([a, b])` and `OrderedDict([…])` the list.
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
    match sequence.args:
        case [ast.Call(func=ast.Name(id="OrderedDict") | ast.Attribute(attr="OrderedDict"))]:
            return True
        case _:
            return False


def layer_of(element: ast.expr) -> ast.expr:
    """Return the layer of an element of a sequence, which may be a pair of its name and it."""
    match element:
        case ast.Tuple(elts=[_, layer]):
            return layer
        case _:
            return element
