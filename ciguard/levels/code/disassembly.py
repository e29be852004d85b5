"""A program that builds a model, taken apart into a template and blocks (MoCo, section III-B)."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.assembly import ProgramTemplate
from ciguard.levels.code.blocks import Block, OwnCall
from ciguard.levels.code.collecting import Collection, Collector, library_call
from ciguard.levels.code.dialects import dialect_of, has_weights
from ciguard.levels.code.fitting import argument
from ciguard.levels.code.flow import DataFlow
from ciguard.levels.code.models import Model, Style, model_of
from ciguard.levels.code.places import BlockPlace, CallSite, Copied
from ciguard.levels.code.programs import Program, layer_of, method_of
from ciguard.levels.code.slicing import creation
from ciguard.levels.code.units import Cutter, Unit
from ciguard.levels.code.uses import PLAIN, uses_of
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Disassembly:
    """A program's parts."""

    template: ProgramTemplate
    blocks: tuple[Block, ...]
    """The hidden layers in the order of the data."""


def disassemble(source: str, library: str, *, name: str = "program") -> Disassembly:
    """Take a program apart. Nothing of it is run.

    Args:
        source: Python text that builds, trains and evaluates one model.
        library: whose layers it is built of.
        name: of the program, for messages.

    Raises:
        DisassemblyError: if the text is no Python, or has no model with a hidden layer that can be
            told from the rest.
        UnknownNameError: if this level does not know the library.
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
            self._refuse_indices()
        units = self.cutter.units()
        while units and self._is_input(units[0]):
            units.pop(0)
        found = [self._collect(unit) for unit in units]
        output = self._output(units, found)
        if output < 1:
            msg = "no hidden layer can be told from the output layer"
            raise DisassemblyError(msg)
        users = _users(found)
        places = [self._place(*pair, users=users) for pair in zip(units, found, strict=True)]
        names = [*_names(units[:output], found[:output]), "output"]
        blocks = [
            self._block(unit, one, name=name)
            for unit, one, name in zip(units, found, names, strict=False)
        ]
        template = ProgramTemplate(
            source=self.program.source,
            dialect=self.program.dialect,
            places=tuple(places[: output + 1]),
            blocks=tuple(blocks),
            tail=tuple(self._tail(units, places, output)),
            definitions=self._definitions(),
            style=self.model.style,
            owner=self.model.owner.name if self.model.owner is not None else "",
            data=self.model.data,
            variable=self.model.variable,
        )
        creation(
            self.program, template.style, template.owner, template.variable
        )  # or it is refused
        return Disassembly(template=template, blocks=tuple(blocks[:output]))

    def _refuse_indices(self) -> None:
        for node in self.program.nodes:
            match node:
                case ast.Subscript(value=value) if dotted_name(value).partition(".layers")[0] == (
                    self.model.variable or None
                ):
                    msg = (
                        f"line {node.lineno}: layers of {self.model.variable!r} are taken by index"
                    )
                    raise DisassemblyError(msg)

    def _is_input(self, unit: Unit) -> bool:
        layers = [layer_of(node) for node, _ in unit.parts if isinstance(node, ast.expr)]
        layers += [n for one in unit.statements if unit.element is None for n in _added(one)]
        names = {self.program.api(one).rpartition(".")[2] for one in layers}
        return bool(names & {"Input", "InputLayer"})

    def _collect(self, unit: Unit) -> Collection:
        collector = Collector(self.program, self.model)
        for node, without in unit.parts:
            collector.visit(node, without)
        if unit.key:
            collector.found.keys.append(unit.key)
        return collector.found

    def _output(self, units: Sequence[Unit], found: Sequence[Collection]) -> int:
        """Return which unit holds the output layer: the last one with weights, else with a call."""
        for wanted in (self._may_have_weights, lambda one: bool(one.calls)):
            for at in reversed(range(len(units))):
                if wanted(found[at]):
                    return at
        return -1

    def _may_have_weights(self, found: Collection) -> bool:
        own = [dotted_name(call.func) for call in found.own.values()]
        return any(has_weights(self.program.api(call)) for call in found.calls.values()) or any(
            self.cutter.has_weights(node)
            for name in own
            if name in self.program.functions
            for node in ast.walk(self.program.functions[name])
        )

    def _place(self, unit: Unit, found: Collection, *, users: dict[str, int]) -> BlockPlace:
        number = self.program.numbers
        shared = [name for name in found.references if self._is_shared(name, found, users)]
        homes = {id(call): found.homes[id(call)] for call in found.ordered}
        return BlockPlace(
            calls=tuple(
                CallSite(
                    node=number[id(call)],
                    copied=shared.index(homes[id(call)]) if homes[id(call)] in shared else -1,
                    uses=tuple(number[id(use)] for use in self._uses(found, call)),
                )
                for call in found.ordered
            ),
            own=tuple(number[id(call)] for call in self._sized(unit, found)),
            copied=tuple(
                Copied(
                    statement=number[id(self._home(name))],
                    name=name,
                    references=tuple(number[id(node)] for node in found.references[name]),
                )
                for name in shared
            ),
            statements=tuple(number[id(one)] for one in unit.statements),
            steps=tuple(
                (number[id(step.node)], None if step.child is None else number[id(step.child)])
                for step in unit.steps
            ),
            element=None if unit.element is None else number[id(unit.element)],
            within=tuple(number[id(one)] for one in unit.within),
            keys=tuple(found.keys),
            takes=unit.takes,
            gives=unit.gives,
        )

    def _uses(self, found: Collection, call: ast.Call) -> tuple[ast.Call, ...]:
        return uses_of(self.program, self.model, found, call)

    def _home(self, name: str) -> ast.stmt:
        definition = self.model.definitions.get(name)
        if definition is not None:
            return definition.statement
        return self.program.classes.get(name) or self.program.functions[name]

    def _is_shared(self, name: str, found: Collection, users: dict[str, int]) -> bool:
        """Return whether something else in the program uses a definition, class or function too."""
        if name in self.model.definitions:
            return users[name] > 1 or self.cutter.uses.get(name, 0) > len(found.references[name])
        spoken = sum(isinstance(n, ast.Name) and n.id == name for n in self.program.nodes)
        return spoken > len(found.references[name])

    def _sized(self, unit: Unit, found: Collection) -> list[ast.Call]:
        """Return the program's own calls of which an argument says how large their input is."""
        flow = DataFlow(self.program, self.model, found.ordered, is_sized=self._is_sized)
        flow.through(unit)
        return [
            call
            for call in found.own.values()
            if id(call) in flow.meets and self._size(call) is not None
        ]

    def _is_sized(self, call: ast.Call) -> bool:
        return self._size(call) is not None

    def _size(self, call: ast.Call) -> OwnCall | None:
        name = dotted_name(call.func)
        owner = self.program.classes.get(name)
        method = self.program.functions.get(name) if owner is None else method_of(owner, "__init__")
        if method is None:
            return None
        parameters = [one.arg for one in method.args.args][owner is not None :]
        axes = self._passed_on(owner or method, parameters)
        for position, parameter in enumerate(parameters):
            axis = self.program.dialect.own_size(parameter) or axes.get(parameter)
            if axis is not None:
                made = library_call(self.program, call)
                return OwnCall(call=made, size=parameter, position=position, axis=axis)
        return None

    def _passed_on(self, node: ast.AST, parameters: Sequence[str]) -> dict[str, int]:
        """Return the parameter that the first layer with a size is given it by, and the axis."""
        for inner in ast.walk(node):
            if not isinstance(inner, ast.Call):
                continue
            made = library_call(self.program, inner)
            size = self.program.dialect.input_size(made)
            text = argument(made, size) if size is not None else None
            if size is not None and text is not None and text in parameters:
                return {text: size.axis}
        return {}

    def _block(self, unit: Unit, found: Collection, *, name: str) -> Block:
        calls = found.ordered
        flow = DataFlow(self.program, self.model, calls, is_sized=self._is_sized)
        follows = flow.through(unit)
        sizes = (self._size(call) for call in self._sized(unit, found))
        return Block(
            name=name,
            calls=tuple(
                replace(
                    library_call(self.program, call),
                    use=PLAIN if self._uses(found, call) else "",
                )
                for call in calls
            ),
            follows=follows,
            own=tuple(size for size in sizes if size is not None),
        )

    def _tail(
        self, units: Sequence[Unit], places: Sequence[BlockPlace], output: int
    ) -> list[BlockPlace]:
        """Return what follows on the output layer in the same expression or list."""
        statements = units[output].statements
        serial = self.model.style in {Style.SEQUENCE, Style.ADDED}
        return [
            place
            for unit, place in zip(units[output + 1 :], places[output + 1 :], strict=True)
            if serial or unit.statements == statements
        ]

    def _definitions(self) -> dict[str, int]:
        """Return the statements of definitions that may go when no block needs them any more."""
        return {
            key: self.program.numbers[id(one.statement)]
            for key, one in self.model.definitions.items()
            if not self.cutter.is_pinned(key)
        }


def _added(statement: ast.stmt) -> list[ast.expr]:
    match statement:
        case ast.Expr(value=ast.Call(args=[ast.expr() as layer])):
            return [layer]
        case _:
            return []


def _users(found: Sequence[Collection]) -> dict[str, int]:
    """Return how many units use each definition."""
    every = [key for one in found for key in one.keys]
    return {key: every.count(key) for key in every}


def _names(units: Sequence[Unit], found: Sequence[Collection]) -> list[str]:
    """Name each unit after its first definition, else by its place; no name twice."""
    names: list[str] = []
    for at, (unit, one) in enumerate(zip(units, found, strict=True), start=1):
        base = re.sub(r"\W", "_", one.keys[0].rpartition(".")[2]) if one.keys else f"block{at}"
        if unit.key:
            base = f"{base}_{sum(other.key == unit.key for other in units[: at - 1])}"
        number = 1
        name = base
        while name in {*names, "output"}:
            number += 1
            name = f"{base}_{number}"
        names.append(name)
    return names
