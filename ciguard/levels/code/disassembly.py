"""Disassembly: splits a program that builds a model into a template and blocks (MoCo, III-B)."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.assembly import ProgramTemplate
from ciguard.levels.code.blocks import Block, OwnCall
from ciguard.levels.code.collection import Collection, Collector, library_call
from ciguard.levels.code.dialects import dialect_of, has_weights
from ciguard.levels.code.fitting import argument
from ciguard.levels.code.flow import DataFlow
from ciguard.levels.code.models import Model, Style, model_of
from ciguard.levels.code.places import BlockPlace, CallSite, SharedDefinition
from ciguard.levels.code.programs import Program, layer_of, method_of
from ciguard.levels.code.slicing import creation_statements
from ciguard.levels.code.units import Cutter, Unit
from ciguard.levels.code.uses import PLAIN, uses_of
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Disassembly:
    """The parts of a program."""

    template: ProgramTemplate
    """The program with a slot for each block."""
    blocks: tuple[Block, ...]
    """Hidden layers, in the order of the data."""


def disassemble(source: str, library: str, *, name: str = "program") -> Disassembly:
    """Split a program into a template and blocks, without running it.

    Args:
        source: the Python text of a program that builds, trains and evaluates one model.
        library: the library of the model's layers.
        name: the name of the program, for messages.

    Raises:
        DisassemblyError: if the text is not valid Python, or has no model with a hidden layer that
            can be separated from the rest.
        UnknownNameError: if level `code` does not support the library.
    """
    dialect = dialect_of(library)
    try:
        program = Program(source, dialect)
        return _Disassembler(program, model_of(program)).parts()
    except SyntaxError as error:
        msg = f"{name}, line {error.lineno}: {error.msg}"
        raise DisassemblyError(msg) from error
    except DisassemblyError as error:
        msg = f"{name}: {error}"
        raise DisassemblyError(msg) from error


@dataclass(slots=True)
class _Disassembler:
    program: Program
    model: Model
    cutter: Cutter = field(init=False)

    def __post_init__(self) -> None:
        self.cutter = Cutter(self.program, self.model)

    def parts(self) -> Disassembly:
        if self.model.style in {Style.SEQUENCE, Style.ADDED}:
            self._reject_indexed_layers()
        units = self.cutter.units()
        while units and self._is_input(units[0]):
            units.pop(0)
        collections = [self._collect(unit) for unit in units]
        output = self._output_index(units, collections)
        if output < 1:
            msg = "the model has no hidden layer that can be separated from the output layer"
            raise DisassemblyError(msg)
        usage_counts = _count_usages(collections)
        places = [
            self._place(*pair, usage_counts=usage_counts)
            for pair in zip(units, collections, strict=True)
        ]
        names = [*_block_names(units[:output], collections[:output]), "output"]
        blocks = [
            self._block(unit, collected, name=name)
            for unit, collected, name in zip(units, collections, names, strict=False)
        ]
        template = ProgramTemplate(
            source=self.program.source,
            dialect=self.program.dialect,
            places=tuple(places[: output + 1]),
            blocks=tuple(blocks),
            tail=tuple(self._tail_places(units, places, output)),
            definitions=self._definitions(),
            style=self.model.style,
            owner=self.model.owner.name if self.model.owner is not None else "",
            data=self.model.data,
            variable=self.model.variable,
        )
        # Raises an error if the statements that create the model are not recognised.
        creation_statements(self.program, template.style, template.owner, template.variable)
        return Disassembly(template=template, blocks=tuple(blocks[:output]))

    def _reject_indexed_layers(self) -> None:
        """Raise `DisassemblyError` if the program reads the model's layers by index."""
        for node in self.program.nodes:
            match node:
                case ast.Subscript(value=value) if dotted_name(value).partition(".layers")[0] == (
                    self.model.variable or None
                ):
                    msg = (
                        f"line {node.lineno}: the program reads layers of {self.model.variable!r} "
                        "by index, and inserted blocks would change the indices"
                    )
                    raise DisassemblyError(msg)

    def _is_input(self, unit: Unit) -> bool:
        layers = [layer_of(node) for node, _ in unit.parts if isinstance(node, ast.expr)]
        if unit.element is None:
            layers += [layer for statement in unit.statements for layer in _added_layers(statement)]
        names = {self.program.api(layer).rpartition(".")[2] for layer in layers}
        return bool(names & {"Input", "InputLayer"})

    def _collect(self, unit: Unit) -> Collection:
        collector = Collector(self.program, self.model)
        for node, without in unit.parts:
            collector.visit(node, without)
        if unit.key:
            collector.collection.keys.append(unit.key)
        return collector.collection

    def _output_index(self, units: Sequence[Unit], collections: Sequence[Collection]) -> int:
        """Return the index of the output layer's unit; -1 if no unit calls the library.

        The output layer is the last unit that may have weights, else the last with a call.
        """
        for may_be_output in (self._may_have_weights, lambda collected: bool(collected.calls)):
            for index in reversed(range(len(units))):
                if may_be_output(collections[index]):
                    return index
        return -1

    def _may_have_weights(self, collected: Collection) -> bool:
        own_names = [dotted_name(call.func) for call in collected.own_calls.values()]
        return any(has_weights(self.program.api(call)) for call in collected.calls.values()) or any(
            self.cutter.has_weights(node)
            for name in own_names
            if name in self.program.functions
            for node in ast.walk(self.program.functions[name])
        )

    def _place(
        self, unit: Unit, collected: Collection, *, usage_counts: dict[str, int]
    ) -> BlockPlace:
        """Return the place of a unit: the numbers of its nodes, which all derived programs share.

        Args:
            unit: the unit.
            collected: the calls and definitions of the unit.
            usage_counts: the number of units that use each definition, by name.
        """
        numbers = self.program.numbers
        shared = [
            name for name in collected.references if self._is_shared(name, collected, usage_counts)
        ]
        containers = [collected.containers[id(call)] for call in collected.ordered_calls]
        return BlockPlace(
            calls=tuple(
                CallSite(
                    node=numbers[id(call)],
                    definition=shared.index(container) if container in shared else -1,
                    uses=tuple(numbers[id(use)] for use in self._rewritable_calls(collected, call)),
                )
                for call, container in zip(collected.ordered_calls, containers, strict=True)
            ),
            sized_calls=tuple(numbers[id(call)] for call in self._sized_calls(unit, collected)),
            shared=tuple(
                SharedDefinition(
                    statement=numbers[id(self._definition_of(name))],
                    name=name,
                    references=tuple(numbers[id(node)] for node in collected.references[name]),
                )
                for name in shared
            ),
            statements=tuple(numbers[id(statement)] for statement in unit.statements),
            steps=tuple(
                (numbers[id(step.node)], None if step.child is None else numbers[id(step.child)])
                for step in unit.steps
            ),
            element=None if unit.element is None else numbers[id(unit.element)],
            sequences=tuple(numbers[id(sequence)] for sequence in unit.sequences),
            keys=tuple(collected.keys),
            input_name=unit.input_name,
            output_name=unit.output_name,
        )

    def _rewritable_calls(self, collected: Collection, call: ast.Call) -> tuple[ast.Call, ...]:
        return uses_of(self.program, self.model, collected, call)

    def _definition_of(self, name: str) -> ast.stmt:
        """Return the statement that defines a name: an assignment, a class or a function."""
        definition = self.model.definitions.get(name)
        if definition is not None:
            return definition.statement
        return self.program.classes.get(name) or self.program.functions[name]

    def _is_shared(self, name: str, collected: Collection, usage_counts: dict[str, int]) -> bool:
        """Return whether other parts of the program use a unit's definition, class or function."""
        if name in self.model.definitions:
            return usage_counts[name] > 1 or self.cutter.uses.get(name, 0) > len(
                collected.references[name]
            )
        mentions = sum(isinstance(n, ast.Name) and n.id == name for n in self.program.nodes)
        return mentions > len(collected.references[name])

    def _sized_calls(self, unit: Unit, collected: Collection) -> list[ast.Call]:
        """Return the calls of own classes and functions that take the unit's input and its size."""
        flow = DataFlow(self.program, self.model, collected.ordered_calls, is_sized=self._is_sized)
        flow.follow(unit)
        return [
            call
            for call in collected.own_calls.values()
            if id(call) in flow.calls_on_input and self._sized_call(call) is not None
        ]

    def _is_sized(self, call: ast.Call) -> bool:
        return self._sized_call(call) is not None

    def _sized_call(self, call: ast.Call) -> OwnCall | None:
        """Return the description of an own call that takes its input's size; None for others."""
        name = dotted_name(call.func)
        owner = self.program.classes.get(name)
        method = self.program.functions.get(name) if owner is None else method_of(owner, "__init__")
        if method is None:
            return None
        parameters = [argument.arg for argument in method.args.args][owner is not None :]
        axes = self._forwarded_sizes(owner or method, parameters)
        for position, parameter in enumerate(parameters):
            axis = self.program.dialect.own_size(parameter) or axes.get(parameter)
            if axis is not None:
                own = library_call(self.program, call)
                return OwnCall(call=own, parameter=parameter, position=position, axis=axis)
        return None

    def _forwarded_sizes(self, node: ast.AST, parameters: Sequence[str]) -> dict[str, int]:
        """Return the input axis whose size a parameter is, by parameter, from the first such layer.

        The result is empty if no layer gets a parameter as the size of its input.
        """
        for inner in ast.walk(node):
            if not isinstance(inner, ast.Call):
                continue
            call = library_call(self.program, inner)
            size = self.program.dialect.input_size(call)
            text = argument(call, size) if size is not None else None
            if size is not None and text is not None and text in parameters:
                return {text: size.axis}
        return {}

    def _block(self, unit: Unit, collected: Collection, *, name: str) -> Block:
        calls = collected.ordered_calls
        flow = DataFlow(self.program, self.model, calls, is_sized=self._is_sized)
        input_sources = flow.follow(unit)
        own_calls = (self._sized_call(call) for call in self._sized_calls(unit, collected))
        return Block(
            name=name,
            calls=tuple(
                replace(
                    library_call(self.program, call),
                    use=PLAIN if self._rewritable_calls(collected, call) else "",
                )
                for call in calls
            ),
            input_sources=input_sources,
            own_calls=tuple(own for own in own_calls if own is not None),
        )

    def _tail_places(
        self, units: Sequence[Unit], places: Sequence[BlockPlace], output: int
    ) -> list[BlockPlace]:
        """Return the places that follow the output layer in the same expression or list."""
        statements = units[output].statements
        is_sequential = self.model.style in {Style.SEQUENCE, Style.ADDED}
        return [
            place
            for unit, place in zip(units[output + 1 :], places[output + 1 :], strict=True)
            if is_sequential or unit.statements == statements
        ]

    def _definitions(self) -> dict[str, int]:
        """Return the numbers of statements to remove when no block needs them, by defined name."""
        return {
            key: self.program.numbers[id(definition.statement)]
            for key, definition in self.model.definitions.items()
            if not self.cutter.is_pinned(key)
        }


def _added_layers(statement: ast.stmt) -> list[ast.expr]:
    """Return the layer that a statement such as `model.add(layer)` adds, as a list."""
    match statement:
        case ast.Expr(value=ast.Call(args=[ast.expr() as layer])):
            return [layer]
        case _:
            return []


def _count_usages(collections: Sequence[Collection]) -> dict[str, int]:
    """Return the number of units that use each definition, by name."""
    keys = [key for collected in collections for key in collected.keys]
    return {key: keys.count(key) for key in keys}


def _block_names(units: Sequence[Unit], collections: Sequence[Collection]) -> list[str]:
    """Return a unique name per unit: that of its first definition, or one with its position."""
    names: list[str] = []
    for position, (unit, collected) in enumerate(zip(units, collections, strict=True), start=1):
        base = f"block{position}"
        if collected.keys:
            base = re.sub(r"\W", "_", collected.keys[0].rpartition(".")[2])
        if unit.key:
            base = f"{base}_{sum(other.key == unit.key for other in units[: position - 1])}"
        number = 1
        name = base
        while name in {*names, "output"}:
            number += 1
            name = f"{base}_{number}"
        names.append(name)
    return names
