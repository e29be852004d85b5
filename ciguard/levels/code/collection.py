"""The parts of one unit of a program: library calls, definitions and own classes."""

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
"""Modules of the libraries whose functions are not operations of a model."""


@dataclass(slots=True)
class Collection:
    """The collected nodes, in the order of the text."""

    calls: dict[int, ast.Call] = field(default_factory=dict)
    """Library calls by `id`."""
    containers: dict[int, str] = field(default_factory=dict)
    """The definition, class or function of the program that contains a call, by `id` of the
    call."""
    own: dict[int, ast.Call] = field(default_factory=dict)
    """Calls of the program's classes and functions, by `id`."""
    keys: list[str] = field(default_factory=list)
    """Names of the definitions that the unit uses."""
    references: dict[str, list[ast.expr]] = field(default_factory=dict)
    """Nodes that refer to a definition, class or function, by its name."""

    @property
    def ordered(self) -> list[ast.Call]:
        """Library calls in the order of the text."""
        return sorted(self.calls.values(), key=lambda node: (node.lineno, node.col_offset))


@dataclass(slots=True)
class Collector:
    """Collects the parts of a unit."""

    program: Program
    model: Model
    found: Collection = field(default_factory=Collection)

    def visit(self, node: ast.AST, without: ast.AST | None = None, home: str = "") -> None:
        """Collect a node and everything below it.

        Args:
            node: a node of the unit.
            without: a child of the node that belongs to another unit.
            home: the definition, class or function that contains the node.
        """
        if node is without:
            return
        key = dotted_name(node)
        if key in self.model.definitions and isinstance(node, ast.expr):
            if not home:  # elsewhere `self` is another object
                self._define(key, node)
            return
        if isinstance(node, ast.Call):
            api = self.program.api(node)
            if api and not self.program.is_container(node) and _is_operation(api):
                self.found.calls.setdefault(id(node), node)
                self.found.containers.setdefault(id(node), home)
                if is_layer(api):
                    return  # calls among its arguments make no layer, or are part of it
            elif isinstance(node.func, ast.Name) and not home:
                self._own(node)
        for child in _inside_out(node):
            self.visit(child, without, home)

    def _define(self, key: str, node: ast.expr) -> None:
        self.found.references.setdefault(key, []).append(node)
        if key in self.found.keys:
            return
        self.found.keys.append(key)
        value = self.model.definitions[key].value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            self._own(value)
        self.visit(value, home=key)

    def _own(self, call: ast.Call) -> None:
        """Collect a call of a class or function of the program, with its body."""
        assert isinstance(call.func, ast.Name)  # noqa: S101 - the callers checked it
        name = call.func.id
        node = self.program.classes.get(name) or self.program.functions.get(name)
        if node is None:
            return
        self.found.own.setdefault(id(call), call)
        is_first = name not in self.found.references
        self.found.references.setdefault(name, []).append(call.func)
        if is_first and node is not self.model.owner:
            for part in _bodies(node, self.program.dialect.style.forward):
                self.visit(part, home=name)


def _inside_out(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node; for a call the arguments come first, as in execution."""
    if isinstance(node, ast.Call):
        return [*node.args, *node.keywords, node.func]
    return [*ast.iter_child_nodes(node)]


def _bodies(node: ast.ClassDef | Function, forward: str) -> list[ast.stmt]:
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
    """Return the description of a call."""
    positional, keywords = arguments_of(node)
    api = program.imports.qualified(node.func)
    return LibraryCall(api=api, positional=positional, keywords=keywords, makes_layer=is_layer(api))
