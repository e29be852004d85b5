"""Which call of a block makes what another one of it meets, as far as the text tells."""

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
"""The place of a call, `INPUT`, or None: not known."""


@dataclass(slots=True)
class DataFlow:
    """Follows the data through one unit."""

    program: Program
    model: Model
    calls: Sequence[ast.Call]
    """The unit's calls of the library, in their order."""
    is_sized: Callable[[ast.Call], bool] = lambda _: False
    """Whether an argument of one of the program's own calls says how large its input is."""
    follows: dict[int, Source] = field(default_factory=dict)
    """By place of the call."""
    meets: set[int] = field(default_factory=set)
    """`id` of the program's own calls that meet the block's input."""
    known: dict[str, Source] = field(default_factory=dict)
    """Source of what a variable holds."""
    child: ast.AST | None = None
    """Stands for the block's input."""
    definitions: dict[str, LayerDefinition] = field(default_factory=dict)
    """Of the class that the data is in."""
    is_inside: bool = False
    """Whether that is a class or function that the block calls."""

    def through(self, unit: Unit) -> tuple[Source, ...]:
        """Return for each call of a unit what the size of its input follows from."""
        self.known = {unit.takes: INPUT}
        self.definitions = self.model.definitions
        if unit.element is not None:
            self._layer(layer_of(unit.element), INPUT)
        elif unit.sequence is not None:
            for call in self._added(unit):
                self._layer(call, INPUT)
        elif unit.steps:
            self.child = unit.steps[0].child
            self._value(unit.steps[-1].node)
        else:
            for statement in unit.statements:
                self._statement(statement)
        return tuple(self.follows.get(place) for place in range(len(self.calls)))

    @staticmethod
    def _added(unit: Unit) -> list[ast.expr]:
        match unit.statements:
            case (ast.Expr(value=ast.Call(args=[layer])),):
                return [layer]
            case _:
                return []

    def _statement(self, statement: ast.stmt) -> Source:
        """Follow the data through a statement; return the source of what it returns, if it does."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.known[name] = self._value(value)
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name), *_])], value=value):
                self.known[name] = self._value(value)
            case ast.AugAssign(value=value):
                self._value(value)
            case ast.Return(value=ast.expr() as value):
                return self._value(value)
            case _:
                pass
        return None

    def _value(self, node: ast.expr) -> Source:
        if node is self.child:
            return INPUT
        match node:
            case ast.Name(id=name):
                return self.known.get(name)
            case ast.BinOp(left=left, right=right):
                one, other = self._value(left), self._value(right)
                return one if one is not None else other
            case ast.Call():
                return self._call(node)
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                for part in parts:
                    self._value(part)
            case ast.Attribute(value=inner) | ast.Subscript(value=inner):
                self._value(inner)
            case _:
                pass
        return None

    def _call(self, node: ast.Call) -> Source:
        definition = self.definitions.get(dotted_name(node.func))
        layer = definition.value if definition is not None else node.func
        if isinstance(layer, ast.Call):
            source = self._value(node.args[0]) if node.args else None
            return self._layer(layer, source)
        if isinstance(node.func, ast.Attribute) and not dotted_name(node.func):
            self._value(node.func.value)
        sources = [self._value(argument) for argument in node.args]
        source = sources[0] if sources else None
        if isinstance(node.func, ast.Name) and node.func.id in self.program.functions:
            return self._own(node, self.program.functions[node.func.id], source)
        return self._meet(node, source)

    def _layer(self, layer: ast.expr, source: Source) -> Source:
        """Note that a layer, or a sequence of some, is called with data of a source."""
        if not isinstance(layer, ast.Call):
            return None
        if self.program.is_sequence(layer):
            for element in elements_of(layer):
                source = self._layer(layer_of(element), source)
            return source
        name = dotted_name(layer.func)
        own = self.program.classes.get(name) or self.program.functions.get(name)
        return self._meet(layer, source) if own is None else self._own(layer, own, source)

    def _own(self, call: ast.Call, owner: ast.ClassDef | Function, source: Source) -> Source:
        """Follow the data through a class or function of the program, one level deep."""
        if source == INPUT and not self.is_inside:
            self.meets.add(id(call))
        if self.is_inside:
            return None
        outside = self.known, self.definitions, self.child
        self.is_inside = True
        found = self._through_own(owner, None if self.is_sized(call) else source)
        self.is_inside = False
        self.known, self.definitions, self.child = outside
        return found

    def _through_own(self, owner: ast.ClassDef | Function, source: Source) -> Source:
        method: Function | None = owner if not isinstance(owner, ast.ClassDef) else None
        if isinstance(owner, ast.ClassDef):
            method = method_of(owner, self.program.dialect.style.forward)
        if method is None:
            return None
        match method.body[-1]:
            case ast.Return(value=ast.Call() as made) if method is owner and self._is_made(made):
                return self._layer(made, source)
            case _:
                pass
        names = [one.arg for one in method.args.args][method is not owner :]
        self.definitions = {}
        if isinstance(owner, ast.ClassDef):
            self.definitions = attributes_of(owner, method.args.args[0].arg)
        self.known = {names[0]: source} if names else {}
        return [self._statement(statement) for statement in method.body][-1]

    def _is_made(self, call: ast.Call) -> bool:
        return is_layer(self.program.api(call))

    def _meet(self, call: ast.Call, source: Source) -> Source:
        api = self.program.api(call)
        place = next((at for at, one in enumerate(self.calls) if one is call), None)
        if place is None:
            return None
        self.follows.setdefault(place, source)
        if self.follows[place] != source:
            self.follows[place] = None  # called twice, with different data
        if keeps_size(api):
            return source
        return place if has_weights(api) else None
