"""What belongs to one unit of a program: calls of the library, definitions, own classes."""

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

_NO_LAYERS = {"init", "initializers", "optim", "optimizers", "regularizers", "constraints", "jit"}
"""Modules of the libraries whose functions are no operation of a model."""


@dataclass(slots=True)
class Collection:
    """What was found, in the order of the text."""

    calls: dict[int, ast.Call] = field(default_factory=dict)
    """By `id`."""
    homes: dict[int, str] = field(default_factory=dict)
    """Of calls, by `id`: the definition, class or function of the program that they stand in."""
    own: dict[int, ast.Call] = field(default_factory=dict)
    """Calls of the program's classes and functions, by `id`."""
    keys: list[str] = field(default_factory=list)
    references: dict[str, list[ast.expr]] = field(default_factory=dict)
    """Nodes that name a definition, class or function."""

    @property
    def ordered(self) -> list[ast.Call]:
        """The calls of the library as they stand in the text."""
        return sorted(self.calls.values(), key=lambda node: (node.lineno, node.col_offset))


@dataclass(slots=True)
class Collector:
    """Collects what belongs to a unit."""

    program: Program
    model: Model
    found: Collection = field(default_factory=Collection)

    def visit(self, node: ast.AST, without: ast.AST | None = None, home: str = "") -> None:
        """Take in a node and what is below it.

        Args:
            node: of a unit.
            without: a part of the node that belongs to another unit.
            home: the definition, class or function that it stands in.
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
                self.found.homes.setdefault(id(node), home)
                if is_layer(api):
                    return  # what its arguments call makes no layer, or is one with it
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
        """Take in a call of a class or function of the program, with what that is made of."""
        assert isinstance(call.func, ast.Name)  # noqa: S101 - asked by the callers
        name = call.func.id
        node = self.program.classes.get(name) or self.program.functions.get(name)
        if node is None:
            return
        self.found.own.setdefault(id(call), call)
        first = name not in self.found.references
        self.found.references.setdefault(name, []).append(call.func)
        if first and node is not self.model.owner:
            for part in _bodies(node, self.program.dialect.style.forward):
                self.visit(part, home=name)


def _inside_out(node: ast.AST) -> list[ast.AST]:
    """Return what is below a node; of a call the arguments come first, as when it is run."""
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
    return not _NO_LAYERS.intersection(modules) and name not in {"Input", "InputLayer", "Model"}


def library_call(program: Program, node: ast.Call) -> LibraryCall:
    """Return a call as data."""
    positional, keywords = arguments_of(node)
    api = program.imports.qualified(node.func)
    return LibraryCall(api=api, positional=positional, keywords=keywords, makes_layer=is_layer(api))
