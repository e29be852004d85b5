"""The parts of one unit of a program: library calls, definitions, and the program's own classes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.code.blocks import LibraryCall
from ciguard.levels.code.dialects import is_layer
from ciguard.levels.code.programs import method_of
from ciguard.levels.code.syntax import arguments_of
from ciguard.sources import Function, dotted_name

if TYPE_CHECKING:
    from ciguard.levels.code.models import Model
    from ciguard.levels.code.programs import Program

_MODULES_WITHOUT_LAYERS = {
    "init",
    "initializers",
    "optim",
    "optimizers",
    "regularizers",
    "constraints",
    "jit",
}
"""Names of library modules whose functions are not operations of a model."""


@dataclass(slots=True)
class Collection:
    """The nodes of one unit, as a `Collector` gathers them."""

    calls: dict[int, ast.Call] = field(default_factory=dict)
    """Library calls, by the `id` of their nodes."""
    containers: dict[int, str] = field(default_factory=dict)
    """Name of the definition, class or function that contains a call, by the `id` of the call;
    empty for a call in the unit itself."""
    own_calls: dict[int, ast.Call] = field(default_factory=dict)
    """Calls of the program's own classes and functions, by the `id` of their nodes."""
    keys: list[str] = field(default_factory=list)
    """Names of the definitions that the unit uses."""
    references: dict[str, list[ast.expr]] = field(default_factory=dict)
    """Nodes that refer to a definition, class or function, by its name."""

    @property
    def ordered_calls(self) -> list[ast.Call]:
        """Library calls in the order of the text."""
        return sorted(self.calls.values(), key=lambda node: (node.lineno, node.col_offset))


@dataclass(slots=True)
class Collector:
    """Collects the parts of a unit."""

    program: Program
    model: Model
    """The program's model, whose definitions are followed."""
    collection: Collection = field(default_factory=Collection)

    def visit(self, node: ast.AST, without: ast.AST | None = None, home: str = "") -> None:
        """Collect a node and everything below it.

        Args:
            node: a node of the unit.
            without: a node below it that belongs to another unit; None if there is none.
            home: the name of the definition, class or function that contains the node; empty
                for the unit itself.
        """
        if node is without:
            return
        key = dotted_name(node)
        if key in self.model.definitions and isinstance(node, ast.expr):
            if not home:  # in other classes, `self` is another object
                self._follow_definition(key, node)
            return
        if isinstance(node, ast.Call):
            api = self.program.api(node)
            if api and not self.program.is_container(node) and _is_operation(api):
                self.collection.calls.setdefault(id(node), node)
                self.collection.containers.setdefault(id(node), home)
                if is_layer(api):
                    return  # calls in its arguments are part of the layer, or create none
            elif isinstance(node.func, ast.Name) and not home:
                self._follow_own_call(node)
        for child in _evaluation_order(node):
            self.visit(child, without, home)

    def _follow_definition(self, key: str, node: ast.expr) -> None:
        """Record a reference to a definition; collect its parts at the first reference."""
        self.collection.references.setdefault(key, []).append(node)
        if key in self.collection.keys:
            return
        self.collection.keys.append(key)
        value = self.model.definitions[key].value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            self._follow_own_call(value)
        self.visit(value, home=key)

    def _follow_own_call(self, call: ast.Call) -> None:
        """Collect a call of one of the program's classes or functions, and its body's parts."""
        assert isinstance(call.func, ast.Name)  # noqa: S101 - both callers check it
        name = call.func.id
        node = self.program.classes.get(name) or self.program.functions.get(name)
        if node is None:
            return
        self.collection.own_calls.setdefault(id(call), call)
        is_first = name not in self.collection.references
        self.collection.references.setdefault(name, []).append(call.func)
        if is_first and node is not self.model.owner:
            for part in _statements_of(node, self.program.dialect.conventions.forward):
                self.visit(part, home=name)


def _evaluation_order(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node; for a call, the arguments first, as Python evaluates them."""
    if isinstance(node, ast.Call):
        return [*node.args, *node.keywords, node.func]
    return [*ast.iter_child_nodes(node)]


def _statements_of(node: ast.ClassDef | Function, forward: str) -> list[ast.stmt]:
    if not isinstance(node, ast.ClassDef):
        return node.body
    methods = (method_of(node, name) for name in ("__init__", "build", forward))
    return [part for method in methods if method is not None for part in method.body]


def _is_operation(api: str) -> bool:
    *modules, name = api.split(".")
    return not _MODULES_WITHOUT_LAYERS.intersection(modules) and name not in {
        "Input",
        "InputLayer",
        "Model",
    }


def library_call(program: Program, node: ast.Call) -> LibraryCall:
    """Return the description of a node that calls a library API, or an own class or function."""
    positional, keywords = arguments_of(node)
    api = program.imports.qualified(node.func)
    return LibraryCall(api=api, positional=positional, keywords=keywords, makes_layer=is_layer(api))
