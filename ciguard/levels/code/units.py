"""Units of a model: its parts between points where a single variable holds the data."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.chains import Step, result_of, steps_of
from ciguard.levels.code.dialects import has_weights
from ciguard.levels.code.models import Model, Style, adds
from ciguard.levels.code.programs import elements_of, layer_of
from ciguard.levels.code.syntax import live_names
from ciguard.sources import dotted_name, names_bound_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.code.programs import Program

_SHAPE_METHODS = {"size", "dim", "numel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """The nodes of one block: statements, steps of one statement, or an element of a list."""

    statements: tuple[ast.stmt, ...] = ()
    """Statements that contain the block."""
    steps: tuple[Step, ...] = ()
    """Operations in the only statement; empty if the block is whole statements or an element."""
    element: ast.expr | None = None
    """Element of a list of layers; None if the block is not an element."""
    sequence: ast.Call | None = None
    """`Sequential` that contains the element, or to which the statement adds a layer."""
    sequences: tuple[ast.Call, ...] = ()
    """All sequences that contain the element, the innermost first."""
    key: str = ""
    """Name by which the outermost sequence is called, if it has a definition; else empty."""
    input_name: str = ""
    """Name of the variable with the block's input."""
    output_name: str = ""
    """Name of the variable with the block's output."""

    @property
    def parts(self) -> list[tuple[ast.AST, ast.AST | None]]:
        """Nodes of the unit, each with a node below it that belongs to another unit, if any."""
        if self.element is not None:
            return [(self.element, None)]
        if self.steps:
            return [(step.node, step.child) for step in self.steps]
        return [(statement, None) for statement in self.statements]


@dataclass(slots=True)
class Cutter:
    """Splitter of a model into units."""

    program: Program
    model: Model
    uses: dict[str, int] = field(init=False)
    """Number of references to each definition in the model's body."""

    def __post_init__(self) -> None:
        self.uses = {}
        for statement in self.model.body:
            for node in ast.walk(statement):
                key = dotted_name(node)
                if key in self.model.definitions and isinstance(getattr(node, "ctx", 0), ast.Load):
                    self.uses[key] = self.uses.get(key, 0) + 1

    def units(self) -> list[Unit]:
        """Return the units in the order of the data.

        Raises:
            DisassemblyError: if no single variable holds the data at any point.
        """
        if self.model.style is Style.SEQUENCE:
            assert self.model.sequence is not None  # noqa: S101 - the style implies it
            return list(self._elements(self.model.sequence, Unit()))
        if self.model.style is Style.ADDED:
            return list(self._added())
        return list(self._statement_units())

    # --- sequences --------------------------------------------------------------------------------

    def _elements(self, sequence: ast.Call, template: Unit) -> Iterator[Unit]:
        """Yield a unit for each layer of a sequence and of nested sequences.

        Args:
            sequence: the sequence.
            template: a unit with the fields that the units share, and the sequences around.
        """
        sequences = (sequence, *template.sequences)
        for element in elements_of(sequence):
            layer = layer_of(element)
            if isinstance(layer, ast.Call) and self.program.is_sequence(layer):
                yield from self._elements(
                    layer,
                    Unit(
                        sequences=sequences,
                        key=template.key,
                        input_name=template.input_name,
                        output_name=template.output_name,
                    ),
                )
            else:
                yield Unit(
                    element=element,
                    sequence=sequence,
                    sequences=sequences,
                    key=template.key,
                    statements=template.statements,
                    input_name=template.input_name,
                    output_name=template.output_name,
                )

    def _added(self) -> Iterator[Unit]:
        model = self.model
        assert model.sequence is not None  # noqa: S101 - the style implies it
        yield from self._elements(model.sequence, Unit())
        for statement in model.body[model.first : model.last + 1]:
            if adds(statement, model.variable):
                yield Unit(statements=(statement,), sequence=model.sequence)

    # --- statements -------------------------------------------------------------------------------

    def _statement_units(self) -> Iterator[Unit]:
        model = self.model
        first, untracked = self._find_head()
        live = live_names(model.body, model.inputs)
        tracked = self._tracked(first) - untracked
        cuts = [
            index
            for index in range(first, model.last + 1)
            if len(live[index] & tracked) == 1 and not self._may_return_early(index)
        ]
        if not cuts:
            msg = (
                f"line {model.body[0].lineno}: the model always keeps its data in several "
                "variables, so that no block can be inserted"
            )
            raise DisassemblyError(msg)
        weighted = self._last_with_weights(cuts[0])
        start, input_name = cuts[0], min(live[cuts[0]] & tracked)
        for index in [*cuts[1:], model.last + 1]:
            is_end = index > model.last
            output_name = input_name if is_end else min(live[index] & tracked)
            stretch = model.body[start:index]
            if not is_end and output_name not in names_bound_in(*stretch):
                continue
            split = weighted in range(start, index)
            yield from self._stretch_units(
                self._without_definitions(stretch), input_name, output_name, split=split
            )
            start, input_name = index, output_name

    def _without_definitions(self, stretch: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the statements without those that only define layers for calls elsewhere."""
        definitions = [definition.statement for definition in self.model.definitions.values()]
        return [statement for statement in stretch if statement not in definitions]

    def _find_head(self) -> tuple[int, set[str]]:
        """Return the index of the first statement that processes the data, and names bound before.

        The statements before it may read shapes: `batch = x.size(0)`.
        """
        model = self.model
        names: set[str] = set()
        for index in range(model.first, model.last):
            statement = model.body[index]
            if model.data in names_bound_in(statement) or _reads_elements(statement, model.data):
                return index, names
            names |= names_bound_in(statement)
        return model.last, names

    def _tracked(self, first: int) -> set[str]:
        """Return the names that may hold the data or values computed from it."""
        model = self.model
        bound = names_bound_in(*model.body[first : model.last])
        return ({model.data} | bound) - model.definitions.keys()

    def _may_return_early(self, index: int) -> bool:
        """Return whether a statement at or after an index may return before the end of the body."""
        early = (ast.Return, ast.Yield, ast.YieldFrom)
        rest = self.model.body[index : self.model.last]
        return self.model.style is not Style.SYMBOLIC and any(
            isinstance(node, early) for statement in rest for node in ast.walk(statement)
        )

    def _last_with_weights(self, first: int) -> int:
        """Return the index of the last statement with weights, to be split into single layers."""
        for index in range(self.model.last, first, -1):
            if any(self.has_weights(node) for node in ast.walk(self.model.body[index])):
                return index
        return self.model.last

    def has_weights(self, node: ast.AST) -> bool:
        """Return whether a node creates or calls a layer that may have weights.

        Classes of the program count as having weights.
        """
        if isinstance(node, ast.Call):
            name = dotted_name(node.func)
            definition = self.model.definitions.get(name)
            if definition is not None:
                return any(self.has_weights(child) for child in ast.walk(definition.value))
            if name in self.program.classes:
                return True
        return has_weights(self.program.api(node))

    def _stretch_units(
        self, stretch: Sequence[ast.stmt], input_name: str, output_name: str, *, split: bool
    ) -> Iterator[Unit]:
        whole = Unit(statements=tuple(stretch), input_name=input_name, output_name=output_name)
        steps = self._steps(stretch, input_name, output_name)
        if steps is None:
            yield whole
            return
        is_split = split or isinstance(stretch[0], ast.Return) or stretch[0] is self._end
        group: list[Step] = []
        for step in steps:
            sequence = self._sequence_called(step)
            if group and (sequence is not None or (is_split and self._may_have_weights(step))):
                yield Unit(
                    statements=whole.statements,
                    steps=(*group,),
                    input_name=input_name,
                    output_name=output_name,
                )
                group = []
            if sequence is None:
                group.append(step)
                continue
            template = Unit(
                statements=whole.statements,
                key=_callee(step.node),
                input_name=input_name,
                output_name=output_name,
            )
            yield from self._elements(sequence, template)
        if group:
            yield Unit(
                statements=whole.statements,
                steps=(*group,),
                input_name=input_name,
                output_name=output_name,
            )

    @property
    def _end(self) -> ast.stmt | None:
        return self.model.body[self.model.last] if self.model.style is Style.SYMBOLIC else None

    def _steps(
        self, stretch: Sequence[ast.stmt], input_name: str, output_name: str
    ) -> list[Step] | None:
        """Return the operations of a stretch; None if it is not one expression of one variable."""
        if len(stretch) != 1:
            return None
        statement = stretch[0]
        call = None
        if statement is self._end:
            calls = (n for n in ast.walk(statement) if isinstance(n, ast.Call))
            call = next(n for n in calls if self._makes_model(n))
        elif not isinstance(statement, ast.Return) and names_bound_in(statement) != {output_name}:
            return None
        expression = result_of(statement, call)
        return None if expression is None else steps_of(expression, input_name)

    def _makes_model(self, node: ast.AST) -> bool:
        return self.program.api(node).rpartition(".")[2] in {"Model", "Functional"}

    def _sequence_called(self, step: Step) -> ast.Call | None:
        """Return the sequence that a step calls; None if its elements cannot be separate units.

        They can if the program calls the sequence once, with the data alone, and does not use it
        otherwise.
        """
        key = _callee(step.node)
        definition = self.model.definitions.get(key)
        if definition is None or self.uses.get(key, 0) != 1 or step.child is None:
            return None
        if self.is_pinned(key) or not isinstance(definition.value, ast.Call):
            return None
        return definition.value if self.program.is_sequence(definition.value) else None

    def is_pinned(self, key: str) -> bool:
        """Return whether the program refers to a definition outside of the model's body."""
        receiver, _, name = key.rpartition(".")
        mentions = 0
        for node in self.program.nodes:
            if not _is_read(node) or self.program.imports.imported(node):
                continue
            if receiver and isinstance(node, ast.Attribute) and node.attr == name:
                mentions += not self._is_of_other_class(node)
            elif not receiver and isinstance(node, ast.Name) and node.id == name:
                mentions += 1
        return mentions > self.uses.get(key, 0)

    def _is_of_other_class(self, node: ast.Attribute) -> bool:
        """Return whether an attribute is read from `self` in another class than the model's."""
        classes = [
            ancestor
            for ancestor in self.program.ancestors(node)
            if isinstance(ancestor, ast.ClassDef)
        ]
        return (
            bool(classes)
            and self.model.owner not in classes
            and dotted_name(node) == f"self.{node.attr}"
        )

    def _may_have_weights(self, step: Step) -> bool:
        """Return whether a step calls a layer with weights, or a function of the program."""
        if not isinstance(step.node, ast.Call):
            return False
        is_own = dotted_name(step.node.func) in self.program.functions
        return is_own or self.has_weights(step.node) or self.has_weights(step.node.func)


def _callee(node: ast.expr) -> str:
    return dotted_name(node.func) if isinstance(node, ast.Call) else ""


def _is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _reads_elements(statement: ast.stmt, data: str) -> bool:
    """Return whether a statement reads more of the data than its shape."""
    shapes = 0
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="shape" | "ndim") if name == data:
                shapes += 1
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if (
                name == data and attr in _SHAPE_METHODS
            ):
                shapes += 1
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name == data:
                shapes += 1
    reads = sum(
        isinstance(node, ast.Name) and node.id == data and _is_read(node)
        for node in ast.walk(statement)
    )
    return reads > shapes
