"""Data flow in a block: which call produces the input of which other call."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.levels.code.blocks import INPUT
from ciguard.levels.code.dialects import has_weights, is_layer, keeps_size
from ciguard.levels.code.models import attributes_of
from ciguard.levels.code.programs import elements_of, layer_of, method_of
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.levels.code.models import LayerDefinition, Model
    from ciguard.levels.code.programs import Program
    from ciguard.levels.code.units import Unit
    from ciguard.sources import Function

Source = int | None
"""Source of a value: the index of the call that produces it, `INPUT`, or None if unknown."""


@dataclass(slots=True)
class DataFlow:
    """Analysis that follows the data through one unit."""

    program: Program
    model: Model
    calls: Sequence[ast.Call]
    """Library calls of the unit, in the order of the text."""
    is_sized: Callable[[ast.Call], bool] = lambda _: False
    """Predicate: true for a call of an own class or function that takes the size of its input."""
    input_sources: dict[int, Source] = field(default_factory=dict)
    """Source of a call's input, by index of the call."""
    calls_on_input: set[int] = field(default_factory=set)
    """The `id` of each call of an own class or function that takes the block's input."""
    variable_sources: dict[str, Source] = field(default_factory=dict)
    """Source of each variable's value."""
    input_node: ast.AST | None = None
    """Node that stands for the block's input."""
    definitions: dict[str, LayerDefinition] = field(default_factory=dict)
    """Layer definitions of the current class."""
    is_inside: bool = False
    """True while following a class or function that the block calls."""

    def follow(self, unit: Unit) -> tuple[Source, ...]:
        """Return the source of each library call's input in a unit."""
        self.variable_sources = {unit.input_name: INPUT}
        self.definitions = self.model.definitions
        if unit.element is not None:
            self._follow_layer(layer_of(unit.element), INPUT)
        elif unit.sequence is not None:
            for call in self._added_layers(unit):
                self._follow_layer(call, INPUT)
        elif unit.steps:
            self.input_node = unit.steps[0].child
            self._follow_value(unit.steps[-1].node)
        else:
            for statement in unit.statements:
                self._follow_statement(statement)
        return tuple(self.input_sources.get(index) for index in range(len(self.calls)))

    @staticmethod
    def _added_layers(unit: Unit) -> list[ast.expr]:
        match unit.statements:
            case (ast.Expr(value=ast.Call(args=[layer])),):
                return [layer]
            case _:
                return []

    def _follow_statement(self, statement: ast.stmt) -> Source:
        """Follow the data through a statement.

        Returns:
            Source of the value that a `return` statement returns; None for other statements.
        """
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.variable_sources[name] = self._follow_value(value)
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name), *_])], value=value):
                self.variable_sources[name] = self._follow_value(value)
            case ast.AugAssign(value=value):
                self._follow_value(value)
            case ast.Return(value=ast.expr() as value):
                return self._follow_value(value)
            case _:
                pass
        return None

    def _follow_value(self, node: ast.expr) -> Source:
        """Follow the data through an expression, and return the source of its value."""
        if node is self.input_node:
            return INPUT
        match node:
            case ast.Name(id=name):
                return self.variable_sources.get(name)
            case ast.BinOp(left=left, right=right):
                left_source, right_source = self._follow_value(left), self._follow_value(right)
                return left_source if left_source is not None else right_source
            case ast.Call():
                return self._follow_call(node)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                for part in parts:
                    self._follow_value(part)
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                self._follow_value(inner)
            case _:
                pass
        return None

    def _follow_call(self, node: ast.Call) -> Source:
        definition = self.definitions.get(dotted_name(node.func))
        layer = definition.value if definition is not None else node.func
        if isinstance(layer, ast.Call):
            source = self._follow_value(node.args[0]) if node.args else None
            return self._follow_layer(layer, source)
        if isinstance(node.func, ast.Attribute) and not dotted_name(node.func):
            self._follow_value(node.func.value)
        sources = [self._follow_value(argument) for argument in node.args]
        source = sources[0] if sources else None
        if isinstance(node.func, ast.Name) and node.func.id in self.program.functions:
            return self._follow_own_call(node, self.program.functions[node.func.id], source)
        return self._record_input(node, source)

    def _follow_layer(self, layer: ast.expr, source: Source) -> Source:
        """Record the source of a layer's input; return the source of its output.

        A `Sequential` is followed layer by layer.
        """
        if not isinstance(layer, ast.Call):
            return None
        if self.program.is_sequence(layer):
            for element in elements_of(layer):
                source = self._follow_layer(layer_of(element), source)
            return source
        name = dotted_name(layer.func)
        owner = self.program.classes.get(name) or self.program.functions.get(name)
        if owner is None:
            return self._record_input(layer, source)
        return self._follow_own_call(layer, owner, source)

    def _follow_own_call(
        self, call: ast.Call, owner: ast.ClassDef | Function, source: Source
    ) -> Source:
        """Follow the data through an own class or function, but not through those that it calls."""
        if source == INPUT and not self.is_inside:
            self.calls_on_input.add(id(call))
        if self.is_inside:
            return None
        saved = self.variable_sources, self.definitions, self.input_node
        self.is_inside = True
        source_after = self._follow_body(owner, None if self.is_sized(call) else source)
        self.is_inside = False
        self.variable_sources, self.definitions, self.input_node = saved
        return source_after

    def _follow_body(self, owner: ast.ClassDef | Function, source: Source) -> Source:
        method: Function | None = owner if not isinstance(owner, ast.ClassDef) else None
        if isinstance(owner, ast.ClassDef):
            method = method_of(owner, self.program.dialect.conventions.forward)
        if method is None:
            return None
        match method.body[-1]:
            case ast.Return(value=ast.Call() as layer) if method is owner and self._creates_layer(
                layer
            ):
                return self._follow_layer(layer, source)
            case _:
                pass
        names = [argument.arg for argument in method.args.args][method is not owner :]
        self.definitions = {}
        if isinstance(owner, ast.ClassDef):
            self.definitions = attributes_of(owner, method.args.args[0].arg)
        self.variable_sources = {names[0]: source} if names else {}
        return [self._follow_statement(statement) for statement in method.body][-1]

    def _creates_layer(self, call: ast.Call) -> bool:
        return is_layer(self.program.api(call))

    def _record_input(self, call: ast.Call, source: Source) -> Source:
        """Record the source of a call's input; return the source that decides its output's size."""
        api = self.program.api(call)
        index = next((i for i, listed in enumerate(self.calls) if listed is call), None)
        if index is None:
            return None
        self.input_sources.setdefault(index, source)
        if self.input_sources[index] != source:
            self.input_sources[index] = None  # the layer is called with different data
        if keeps_size(api):
            return source
        return index if has_weights(api) else None
