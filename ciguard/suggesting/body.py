"""How a function uses its arguments: attributes, comparisons, calls of libraries and of others."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ciguard.sources import dotted_name
from ciguard.suggesting.clues import (
    ArgumentClue,
    ArgumentClueSource,
    ArgumentKind,
    Fact,
    Guess,
    Limited,
    MayBe,
    NumberRange,
)
from ciguard.suggesting.conditions import kinds_named, values_in
from ciguard.suggesting.given import ArgumentFlow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.suggesting.functions import UnannotatedFunction
    from ciguard.suggesting.library import Roles
    from ciguard.suggesting.project import ProjectModule

_OF_BOTH = {
    *("shape", "ndim", "dtype", "mean", "std", "sum", "min", "max", "argmax", "reshape", "T"),
    "all",
}
_OF_ARRAYS = {"astype", "flatten", "tolist"}
_OF_TENSORS = {"unsqueeze", "view", "permute", "size", "to", "detach", "cpu", "numel", "dim"}
_OF_TEXTS = {"lower", "upper", "split", "strip", "startswith", "endswith"}
_SIZED = {"len", "sorted", "enumerate", "reversed", "zip", "map"}
"""Functions of Python whose arguments have items."""


class _How(Enum):
    """How an argument is handed to a function."""

    WHOLE = 0
    ITEM = 1
    """As an item of a tuple or list."""
    CHANGED = 2
    """Multiplied, or with its sign turned: only what kind it is stays."""


@dataclass(frozen=True, slots=True)
class ForwardedArgument:
    """An argument that is passed on to another function of the project."""

    parameter: str
    callee: str
    place: int | str
    """Position or name there."""
    line: int


def body_clues(
    subject: UnannotatedFunction, module: ProjectModule, roles: Roles, is_own: Callable[[str], bool]
) -> tuple[list[ArgumentClue], list[ForwardedArgument]]:
    """Return what the body of a function says of its arguments, and where it passes them on.

    Args:
        subject: the function.
        module: that it is in.
        roles: what the libraries' parameters are.
        is_own: tells whether a name is that of a function of the same module.
    """
    reader = _Body(subject, module, roles, is_own)
    for statement in subject.node.body:
        for node in ast.walk(statement):
            reader.read(node)
    return reader.clues, reader.passed


class _Body:
    def __init__(
        self,
        subject: UnannotatedFunction,
        module: ProjectModule,
        roles: Roles,
        is_own: Callable[[str], bool],
    ) -> None:
        self._given = ArgumentFlow(subject)
        self._defaults = subject.defaults
        self._module = module
        self._roles = roles
        self._is_own = is_own
        imported = {full.partition(".")[0] for full in module.imports.meanings.values()}
        self._arrays = ArgumentKind.TENSOR if "torch" in imported else ArgumentKind.ARRAY
        self.clues: list[ArgumentClue] = []
        self.passed: list[ForwardedArgument] = []

    def read(self, node: ast.AST) -> None:
        """Note what one node says."""
        match node:
            case ast.Call():
                self._call(node)
            case ast.Attribute(value=value, attr=attr):
                self._attribute(self._given.meaning(value), attr, node)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                self._compared(left, op, right, node)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                self._unpacked(len(targets), value)
            case ast.Slice(lower=lower, upper=upper, step=step):
                self._indices([lower, upper, step], node)
            case ast.For() | ast.comprehension():
                self._looped(node)
            case ast.If(test=test) | ast.IfExp(test=test) | (ast.BoolOp(op=ast.Or()) as test):
                self._condition(test)
            case _:
                pass

    def _note(self, name: str, fact: Fact, line: int, words: str) -> None:
        if name:
            self.clues.append(
                ArgumentClue(name, ArgumentClueSource.USE, fact, f"line {line}: {words}")
            )

    def _attribute(self, name: str, attr: str, node: ast.Attribute) -> None:
        kind = None
        if attr in _OF_TEXTS:
            kind = ArgumentKind.TEXT
        elif attr in _OF_BOTH or (attr in _OF_TENSORS and self._arrays is ArgumentKind.TENSOR):
            kind = self._arrays
        elif attr in _OF_ARRAYS:
            kind = ArgumentKind.ARRAY
        if kind is not None:
            self._note(name, MayBe(Guess(kind)), node.lineno, ast.unparse(node))

    def _looped(self, node: ast.For | ast.comprehension) -> None:
        name = self._given.looped(node)
        self._note(name, MayBe(Guess(ArgumentKind.LIST)), node.iter.lineno, f"a loop over {name}")

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr, node: ast.expr) -> None:
        if isinstance(left, ast.Call) and dotted_name(left.func) == "type" and len(left.args) == 1:
            self._typed(left.args[0], node, right)
            return
        name, values = self._given.meaning(left), values_in(right)
        if values is None or not isinstance(op, ast.Eq | ast.Is | ast.In | ast.NotEq | ast.IsNot):
            return
        kinds = {
            type(None): ArgumentKind.NONE,
            str: ArgumentKind.TEXT,
            bool: ArgumentKind.BOOL,
            int: ArgumentKind.INT,
        }
        for value in values:
            kind = kinds.get(type(value))
            if kind is not None:
                seen = (value,) if kind in {ArgumentKind.TEXT, ArgumentKind.INT} else ()
                self._note(name, MayBe(Guess(kind, seen=seen)), node.lineno, ast.unparse(node))

    def _typed(self, subject: ast.expr, node: ast.expr, types: ast.expr) -> None:
        for kind in kinds_named(types):
            name = self._given.meaning(subject)
            self._note(name, MayBe(Guess(kind)), node.lineno, ast.unparse(node))

    def _unpacked(self, count: int, value: ast.expr) -> None:
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            guess = Guess(self._arrays, sides=(None,) * count)
            self._note(
                self._given.meaning(value.value),
                MayBe(guess),
                value.lineno,
                f"{ast.unparse(value)} has {count} items",
            )
            return
        guess = Guess(ArgumentKind.TUPLE, length=NumberRange(count, count))
        words = f"{count} items are taken out of it"
        self._note(self._given.meaning(value), MayBe(guess), value.lineno, words)

    def _condition(self, test: ast.expr) -> None:
        """Note what is asked whether it is true: a flag, or something that need not be given."""
        match test:
            case ast.BoolOp(values=values):
                for value in values:
                    self._condition(value)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                self._condition(inner)
            case ast.Name(id=name):
                default = self._defaults.get(name)
                is_none = isinstance(default, ast.Constant) and default.value is None
                kind = ArgumentKind.NONE if is_none else ArgumentKind.BOOL
                words = f"asks whether {name} is true"
                self._note(self._given.meaning(test), MayBe(Guess(kind)), test.lineno, words)
            case _:
                pass

    def _indices(self, parts: list[ast.expr | None], node: ast.Slice) -> None:
        for part in parts:
            end = part.operand if isinstance(part, ast.UnaryOp) else part
            name = self._given.meaning(end)
            words = f"an end of the slice [{ast.unparse(node)}]"
            self._note(name, MayBe(Guess(ArgumentKind.INT)), end.lineno if end else 0, words)

    def _call(self, node: ast.Call) -> None:
        written = dotted_name(node.func)
        if written == "isinstance" and len(node.args) > 1:
            self._typed(node.args[0], node, node.args[1])
            return
        given: list[tuple[int | str, ast.expr]] = list(enumerate(node.args))
        given += [(item.arg, item.value) for item in node.keywords if item.arg]
        qualified = self._module.imports.imported(node.func)
        for place, value in given:
            for name, how in self._arguments_in(value):
                if qualified:
                    self._role(qualified, place, (name, how), node)
                elif how is _How.WHOLE and self._is_own(written):
                    self.passed.append(ForwardedArgument(name, written, place, node.lineno))
                elif how is _How.WHOLE:
                    self._builtin(written, name, node)

    def _builtin(self, written: str, name: str, node: ast.Call) -> None:
        if written in _SIZED:
            self._note(name, MayBe(Guess(ArgumentKind.LIST)), node.lineno, ast.unparse(node))
        elif written == "range":
            words = ast.unparse(node)
            self._note(name, MayBe(Guess(ArgumentKind.INT)), node.lineno, words)
            weak = ArgumentClue(
                name,
                ArgumentClueSource.NAME,
                Limited(NumberRange(0)),
                f"line {node.lineno}: {words}",
            )
            self.clues.append(weak)

    def _role(
        self, qualified: str, place: int | str, given: tuple[str, _How], node: ast.Call
    ) -> None:
        role = self._roles.of(qualified, place)
        if role is None:
            return
        name, how = given
        line = f"line {node.lineno}: {role.name} of {qualified}"
        facts = {
            _How.WHOLE: role.facts,
            _How.ITEM: role.item_facts(),
            _How.CHANGED: tuple(
                fact for fact in role.facts if isinstance(fact, MayBe) and not fact.guess.seen
            ),
        }[how]
        self.clues += [ArgumentClue(name, ArgumentClueSource.LIBRARY, fact, line) for fact in facts]

    def _arguments_in(self, value: ast.expr) -> Iterator[tuple[str, _How]]:
        match value:
            case ast.Name():
                found = [(value, _How.WHOLE)]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                found = [(item, _How.ITEM) for item in items if isinstance(item, ast.Name)]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Name() as inner):
                found = [(inner, _How.CHANGED)]
            case ast.BinOp(left=ast.Name() as inner, op=ast.Mult() | ast.Pow(), right=factor):
                found = [] if _is_float(factor) else [(inner, _How.CHANGED)]
            case _:
                found = []
        for node, how in found:
            name = self._given.meaning(node)
            if name:
                yield name, how


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)
