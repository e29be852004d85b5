"""A model cut into units: stretches of it between two points where one variable is alive."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.chains import Step, result_of, steps_of
from ciguard.levels.code.dialects import has_weights
from ciguard.levels.code.models import Model, Style, adds
from ciguard.levels.code.programs import elements_of, layer_of
from ciguard.levels.code.syntax import alive
from ciguard.sources import bound_in, dotted_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.code.programs import Program

_SHAPE_METHODS = {"size", "dim", "numel"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What stands in a program for one block: statements, steps of one, or an element of a list."""

    statements: tuple[ast.stmt, ...] = ()
    steps: tuple[Step, ...] = ()
    """Of the only statement; none where the statements stand for the block as a whole."""
    element: ast.expr | None = None
    sequence: ast.Call | None = None
    """What the element is one of, or is added to."""
    within: tuple[ast.Call, ...] = ()
    """Sequences that the element stands in, the innermost first."""
    key: str = ""
    """How the outermost of these is called, where its definition stands elsewhere."""
    takes: str = ""
    gives: str = ""

    @property
    def parts(self) -> list[tuple[ast.AST, ast.AST | None]]:
        """What belongs to the unit: nodes, each with the part of it that does not."""
        if self.element is not None:
            return [(self.element, None)]
        if self.steps:
            return [(step.node, step.child) for step in self.steps]
        return [(statement, None) for statement in self.statements]


@dataclass(slots=True)
class Cutter:
    """Cuts one model."""

    program: Program
    model: Model
    uses: dict[str, int] = field(init=False)
    """How often each definition is called, or spoken of otherwise, in the model's body."""

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
            DisassemblyError: if the model cannot be cut anywhere.
        """
        if self.model.style is Style.SEQUENCE:
            assert self.model.sequence is not None  # noqa: S101 - it is the style
            return list(self._elements(self.model.sequence, Unit()))
        if self.model.style is Style.ADDED:
            return list(self._added())
        return list(self._of_statements())

    # --- sequences --------------------------------------------------------------------------------

    def _elements(self, sequence: ast.Call, like: Unit) -> Iterator[Unit]:
        """Yield the units of a sequence; those of sequences in it too."""
        within = (sequence, *like.within)
        for element in elements_of(sequence):
            layer = layer_of(element)
            if isinstance(layer, ast.Call) and self.program.is_sequence(layer):
                yield from self._elements(
                    layer, Unit(within=within, key=like.key, takes=like.takes, gives=like.gives)
                )
            else:
                yield Unit(
                    element=element,
                    sequence=sequence,
                    within=within,
                    key=like.key,
                    statements=like.statements,
                    takes=like.takes,
                    gives=like.gives,
                )

    def _added(self) -> Iterator[Unit]:
        model = self.model
        assert model.sequence is not None  # noqa: S101 - it is the style
        yield from self._elements(model.sequence, Unit())
        for statement in model.body[model.first : model.last + 1]:
            if adds(statement, model.variable):
                yield Unit(statements=(statement,), sequence=model.sequence)

    # --- statements -------------------------------------------------------------------------------

    def _of_statements(self) -> Iterator[Unit]:
        model = self.model
        first, free = self._head()
        needed = alive(model.body, model.inputs)
        tracked = self._tracked(first) - free
        cuts = [
            at
            for at in range(first, model.last + 1)
            if len(needed[at] & tracked) == 1 and not self._leaves_early(at)
        ]
        if not cuts:
            msg = f"line {model.body[0].lineno}: no place where one variable holds all the data"
            raise DisassemblyError(msg)
        splitting = self._splitting(cuts[0])
        start, takes = cuts[0], min(needed[cuts[0]] & tracked)
        for at in [*cuts[1:], model.last + 1]:
            ends = at > model.last
            gives = takes if ends else min(needed[at] & tracked)
            stretch = model.body[start:at]
            if not ends and gives not in bound_in(*stretch):
                continue
            split = splitting in range(start, at)
            yield from self._stretch(self._used(stretch), takes, gives, split=split)
            start, takes = at, gives

    def _used(self, stretch: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Leave out the statements that only make what is called elsewhere."""
        making = [one.statement for one in self.model.definitions.values()]
        return [one for one in stretch if one not in making]

    def _head(self) -> tuple[int, set[str]]:
        """Return where the model's data is first changed, and the names that are set before.

        Statements that only ask for shapes stand before: `batch = x.size(0)`.
        """
        model = self.model
        free: set[str] = set()
        for at in range(model.first, model.last):
            statement = model.body[at]
            if model.data in bound_in(statement) or _reads_elements(statement, model.data):
                return at, free
            free |= bound_in(statement)
        return model.last, free

    def _tracked(self, first: int) -> set[str]:
        """Return the names that may hold data, or something computed on the way."""
        model = self.model
        inside = bound_in(*model.body[first : model.last])
        return ({model.data} | inside) - model.definitions.keys()

    def _leaves_early(self, at: int) -> bool:
        """Return whether the function may be left at or behind a statement, before its end."""
        early = (ast.Return, ast.Yield, ast.YieldFrom)
        rest = self.model.body[at : self.model.last]
        return self.model.style is not Style.SYMBOLIC and any(
            isinstance(node, early) for one in rest for node in ast.walk(one)
        )

    def _splitting(self, first: int) -> int:
        """Return the last statement with weights: it is cut as finely as possible."""
        for at in range(self.model.last, first, -1):
            if any(self.has_weights(node) for node in ast.walk(self.model.body[at])):
                return at
        return self.model.last

    def has_weights(self, node: ast.AST) -> bool:
        """Return whether a node makes or calls what may have weights, the program's classes too."""
        if isinstance(node, ast.Call):
            name = dotted_name(node.func)
            definition = self.model.definitions.get(name)
            if definition is not None:
                return any(self.has_weights(one) for one in ast.walk(definition.value))
            if name in self.program.classes:
                return True
        return has_weights(self.program.api(node))

    def _stretch(
        self, stretch: Sequence[ast.stmt], takes: str, gives: str, *, split: bool
    ) -> Iterator[Unit]:
        whole = Unit(statements=tuple(stretch), takes=takes, gives=gives)
        steps = self._steps(stretch, takes, gives)
        if steps is None:
            yield whole
            return
        fine = split or isinstance(stretch[0], ast.Return) or stretch[0] is self._end
        group: list[Step] = []
        for step in steps:
            sequence = self._sequence_called(step)
            if group and (sequence is not None or (fine and self._may_have_weights(step))):
                yield Unit(statements=whole.statements, steps=(*group,), takes=takes, gives=gives)
                group = []
            if sequence is None:
                group.append(step)
                continue
            like = Unit(
                statements=whole.statements, key=_callee(step.node), takes=takes, gives=gives
            )
            yield from self._elements(sequence, like)
        if group:
            yield Unit(statements=whole.statements, steps=(*group,), takes=takes, gives=gives)

    @property
    def _end(self) -> ast.stmt | None:
        return self.model.body[self.model.last] if self.model.style is Style.SYMBOLIC else None

    def _steps(self, stretch: Sequence[ast.stmt], takes: str, gives: str) -> list[Step] | None:
        """Return the steps of a stretch that is one expression of one variable."""
        if len(stretch) != 1:
            return None
        statement = stretch[0]
        call = None
        if statement is self._end:
            calls = (n for n in ast.walk(statement) if isinstance(n, ast.Call))
            call = next(n for n in calls if self._makes_model(n))
        elif not isinstance(statement, ast.Return) and bound_in(statement) != {gives}:
            return None
        expression = result_of(statement, call)
        return None if expression is None else steps_of(expression, takes)

    def _makes_model(self, node: ast.AST) -> bool:
        return self.program.api(node).rpartition(".")[2] in {"Model", "Functional"}

    def _sequence_called(self, step: Step) -> ast.Call | None:
        """Return the sequence that a step calls, if its elements can be told apart there.

        It is called once, with the data alone, and nothing else is done with it.
        """
        key = _callee(step.node)
        definition = self.model.definitions.get(key)
        if definition is None or self.uses.get(key, 0) != 1 or step.child is None:
            return None
        if self.is_pinned(key) or not isinstance(definition.value, ast.Call):
            return None
        return definition.value if self.program.is_sequence(definition.value) else None

    def is_pinned(self, key: str) -> bool:
        """Return whether something outside of the model's body speaks of a definition."""
        receiver, _, name = key.rpartition(".")
        spoken = 0
        for node in self.program.nodes:
            if not _is_read(node) or self.program.imports.imported(node):
                continue
            if receiver and isinstance(node, ast.Attribute) and node.attr == name:
                spoken += not self._is_of_another(node)
            elif not receiver and isinstance(node, ast.Name) and node.id == name:
                spoken += 1
        return spoken > self.uses.get(key, 0)

    def _is_of_another(self, node: ast.Attribute) -> bool:
        """Return whether an attribute is read of `self` in a class that is not the model's."""
        inside = [one for one in self.program.above(node) if isinstance(one, ast.ClassDef)]
        return (
            bool(inside)
            and self.model.owner not in inside
            and dotted_name(node) == f"self.{node.attr}"
        )

    def _may_have_weights(self, step: Step) -> bool:
        """Return whether a step calls a layer with weights, or something of the program's own."""
        if not isinstance(step.node, ast.Call):
            return False
        own = dotted_name(step.node.func) in self.program.functions
        return own or self.has_weights(step.node) or self.has_weights(step.node.func)


def _callee(node: ast.expr) -> str:
    return dotted_name(node.func) if isinstance(node, ast.Call) else ""


def _is_read(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Load)


def _reads_elements(statement: ast.stmt, data: str) -> bool:
    """Return whether a statement does more with the data than asking for its shape."""
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
