"""Clues in a function's body: attributes, comparisons, and calls of other functions."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ciguard.sources import dotted_name
from ciguard.suggesting.argument_flow import ArgumentFlow
from ciguard.suggesting.clues import (
    ArgumentClue,
    ArgumentClueSource,
    ArgumentKind,
    Axis,
    Fact,
    Guess,
    NumberRange,
    PossibleValues,
    PowersOfTwo,
    ValueRange,
)
from ciguard.suggesting.conditions import kinds_of_types, literal_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.suggesting.functions import UnannotatedFunction
    from ciguard.suggesting.library import Roles
    from ciguard.suggesting.project import ProjectModule

_ARRAY_OR_TENSOR_ATTRIBUTES = {
    *("shape", "ndim", "dtype", "mean", "std", "sum", "min", "max", "argmax", "reshape", "T"),
    "all",
}
_ARRAY_ATTRIBUTES = {"astype", "flatten", "tolist"}
_TENSOR_ATTRIBUTES = {"unsqueeze", "view", "permute", "size", "to", "detach", "cpu", "numel", "dim"}
_TEXT_ATTRIBUTES = {"lower", "upper", "split", "strip", "startswith", "endswith"}
_REDUCTIONS = {
    *("sum", "mean", "std", "var", "min", "max", "amin", "amax", "argmin", "argmax", "prod"),
    *("all", "any", "median", "cumsum", "cumprod", "softmax", "log_softmax", "logsumexp"),
}
"""Methods of arrays whose first argument is an axis."""
_ITERATING_FUNCTIONS = {"len", "sorted", "enumerate", "reversed", "zip", "map"}
"""Built-in functions that iterate over their arguments."""


class _PassingForm(Enum):
    """Form in which an argument is passed to another function."""

    UNCHANGED = 0
    ITEM = 1
    """Item of a tuple or list that is passed."""
    SCALED = 2
    """Negated or multiplied value, from which only the argument's kind is known."""


@dataclass(frozen=True, slots=True)
class ForwardedArgument:
    """An argument that a function passes unchanged to another function of its module."""

    parameter: str
    """Name of the argument, or of its items; see `item_name`."""
    callee: str
    """Name of the called function, as written in the call."""
    position_or_name: int | str
    """Position or name of the callee's parameter."""
    line: int
    """Line number of the call, from 1."""


def body_clues(
    subject: UnannotatedFunction,
    module: ProjectModule,
    roles: Roles,
    is_in_module: Callable[[str], bool],
) -> tuple[list[ArgumentClue], list[ForwardedArgument]]:
    """Return clues on a function's arguments from its body, and the arguments that it passes on.

    Args:
        subject: the function.
        module: module of the function.
        roles: roles of the libraries' parameters.
        is_in_module: returns whether a name is that of a function in the same module.
    """
    reader = _BodyReader(subject, module, roles, is_in_module)
    for statement in subject.node.body:
        for node in ast.walk(statement):
            reader.read(node)
    return reader.clues, reader.forwarded


class _BodyReader:
    """Collects the clues in a function's body, node by node."""

    def __init__(
        self,
        subject: UnannotatedFunction,
        module: ProjectModule,
        roles: Roles,
        is_in_module: Callable[[str], bool],
    ) -> None:
        self._flow = ArgumentFlow(subject)
        self._defaults = subject.defaults
        self._module = module
        self._roles = roles
        self._is_in_module = is_in_module
        imported = {full.partition(".")[0] for full in module.imports.imported_names.values()}
        self._array_kind = ArgumentKind.TENSOR if "torch" in imported else ArgumentKind.ARRAY
        self.clues: list[ArgumentClue] = []
        self.forwarded: list[ForwardedArgument] = []

    def read(self, node: ast.AST) -> None:
        """Collect the clues of one node."""
        match node:
            case ast.Call():
                self._add_call(node)
            case ast.Attribute(value=value, attr=attr):
                self._add_attribute(self._flow.argument_of(value), attr, node)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                self._add_comparison(left, op, right, node)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                self._add_unpacking(len(targets), value)
            case ast.Subscript(value=value, slice=ast.Tuple(elts=indices)):
                self._add_indices(value, indices)
            case ast.Slice(lower=lower, upper=upper, step=step):
                self._add_slice_bounds([lower, upper, step], node)
            case ast.For() | ast.comprehension():
                self._add_loop(node)
            case ast.If(test=test) | ast.IfExp(test=test) | (ast.BoolOp(op=ast.Or()) as test):
                self._add_condition(test)
            case _:
                pass

    def _add(self, name: str, fact: Fact, line: int, text: str) -> None:
        """Collect a clue, unless the name of the argument is empty."""
        if name:
            self.clues.append(
                ArgumentClue(name, ArgumentClueSource.USE, fact, f"line {line}: {text}")
            )

    def _add_attribute(self, name: str, attr: str, node: ast.Attribute) -> None:
        """Collect the clue that an argument with an attribute has a kind."""
        kind = None
        if attr in _TEXT_ATTRIBUTES:
            kind = ArgumentKind.TEXT
        elif attr in _ARRAY_OR_TENSOR_ATTRIBUTES or (
            attr in _TENSOR_ATTRIBUTES and self._array_kind is ArgumentKind.TENSOR
        ):
            kind = self._array_kind
        elif attr in _ARRAY_ATTRIBUTES:
            kind = ArgumentKind.ARRAY
        if kind is not None:
            self._add(name, PossibleValues(Guess(kind)), node.lineno, ast.unparse(node))

    def _add_loop(self, node: ast.For | ast.comprehension) -> None:
        name = self._flow.loop_argument(node)
        self._add(
            name, PossibleValues(Guess(ArgumentKind.LIST)), node.iter.lineno, f"a loop over {name}"
        )

    def _add_comparison(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, node: ast.expr
    ) -> None:
        """Collect clues from a comparison of an argument with literals or types."""
        if isinstance(left, ast.Call) and dotted_name(left.func) == "type" and len(left.args) == 1:
            self._add_types(left.args[0], node, right)
            return
        name, values = self._flow.argument_of(left), literal_values(right)
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
                examples = (value,) if kind in {ArgumentKind.TEXT, ArgumentKind.INT} else ()
                self._add(
                    name,
                    PossibleValues(Guess(kind, examples=examples)),
                    node.lineno,
                    ast.unparse(node),
                )

    def _add_types(self, subject: ast.expr, node: ast.expr, types: ast.expr) -> None:
        """Collect the clue that `subject` has one of the types; `node` is the whole check."""
        for kind in kinds_of_types(types):
            name = self._flow.argument_of(subject)
            self._add(name, PossibleValues(Guess(kind)), node.lineno, ast.unparse(node))

    def _add_unpacking(self, count: int, value: ast.expr) -> None:
        """Collect the clue of a value, or a shape, that is unpacked into `count` names."""
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            guess = Guess(self._array_kind, shape=(None,) * count)
            self._add(
                self._flow.argument_of(value.value),
                PossibleValues(guess),
                value.lineno,
                f"{ast.unparse(value)} has {count} items",
            )
            return
        guess = Guess(ArgumentKind.TUPLE, length=NumberRange(count, count))
        text = f"unpacks {ast.unparse(value)} into {count} items"
        self._add(self._flow.argument_of(value), PossibleValues(guess), value.lineno, text)

    def _add_indices(self, value: ast.expr, indices: list[ast.expr]) -> None:
        """Collect the clue that an argument with several indices has as many dimensions."""
        if any(
            isinstance(index, ast.Constant | ast.Starred) and not _is_int(index)
            for index in indices
        ):
            return  # `...` and `None` stand for other numbers of dimensions
        guess = Guess(self._array_kind, shape=(None,) * len(indices))
        text = f"{ast.unparse(value)} has {len(indices)} indices"
        self._add(self._flow.argument_of(value), PossibleValues(guess), value.lineno, text)

    def _add_condition(self, test: ast.expr) -> None:
        """Collect clues from a condition that tests whether a flag or optional argument is true."""
        match test:
            case ast.BoolOp(values=values):
                for value in values:
                    self._add_condition(value)
            case ast.UnaryOp(op=ast.Not(), operand=negated):
                self._add_condition(negated)
            case ast.Name(id=name):
                default = self._defaults.get(name)
                is_none = isinstance(default, ast.Constant) and default.value is None
                kind = ArgumentKind.NONE if is_none else ArgumentKind.BOOL
                text = f"tests whether {name} is true"
                self._add(
                    self._flow.argument_of(test), PossibleValues(Guess(kind)), test.lineno, text
                )
            case _:
                pass

    def _add_slice_bounds(self, parts: list[ast.expr | None], node: ast.Slice) -> None:
        """Collect the clue that the bounds of a slice are integers."""
        for part in parts:
            end = part.operand if isinstance(part, ast.UnaryOp) else part
            name = self._flow.argument_of(end)
            text = f"a bound of the slice [{ast.unparse(node)}]"
            self._add(name, PossibleValues(Guess(ArgumentKind.INT)), end.lineno if end else 0, text)

    def _add_call(self, node: ast.Call) -> None:
        """Collect clues from the arguments of a call in the body."""
        self._add_axis(node)
        callee = dotted_name(node.func)
        if callee == "isinstance" and len(node.args) > 1:
            self._add_types(node.args[0], node, node.args[1])
            return
        arguments: list[tuple[int | str, ast.expr]] = list(enumerate(node.args))
        arguments += [(item.arg, item.value) for item in node.keywords if item.arg]
        qualified = self._module.imports.imported(node.func)
        for position_or_name, value in arguments:
            for name, passing in self._passed_arguments(value):
                if qualified.endswith(".log2") and passing is _PassingForm.UNCHANGED:
                    text = f"passed to {qualified}"
                    self._add(name, PowersOfTwo(), node.lineno, text)
                if qualified:
                    self._add_role(qualified, position_or_name, (name, passing), node)
                elif passing is _PassingForm.UNCHANGED and self._is_in_module(callee):
                    self.forwarded.append(
                        ForwardedArgument(name, callee, position_or_name, node.lineno)
                    )
                elif passing is _PassingForm.UNCHANGED:
                    self._add_builtin(callee, name, node)

    def _add_axis(self, node: ast.Call) -> None:
        """Collect the clue that an argument is an axis of another one."""
        func = node.func
        is_reduction = isinstance(func, ast.Attribute) and func.attr in _REDUCTIONS
        receiver = self._flow.argument_of(func.value) if isinstance(func, ast.Attribute) else ""
        axes = [item.value for item in node.keywords if item.arg in {"axis", "dim"}]
        if is_reduction and not self._module.imports.imported(func):
            axes += node.args[:1]
        array = receiver or self._flow.argument_of(next(iter(node.args), None))
        for axis in axes:
            name = self._flow.argument_of(axis)
            text = f"an axis in {ast.unparse(node)}"
            self._add(name, Axis("" if array == name else array), node.lineno, text)

    def _add_builtin(self, function: str, name: str, node: ast.Call) -> None:
        """Collect clues from a call of a built-in function."""
        if function in _ITERATING_FUNCTIONS:
            self._add(
                name, PossibleValues(Guess(ArgumentKind.LIST)), node.lineno, ast.unparse(node)
            )
        elif function == "range":
            text = ast.unparse(node)
            self._add(name, PossibleValues(Guess(ArgumentKind.INT)), node.lineno, text)
            clue = ArgumentClue(
                name,
                ArgumentClueSource.NAME,
                ValueRange(NumberRange(0)),
                f"line {node.lineno}: {text}",
            )
            self.clues.append(clue)

    def _add_role(
        self,
        qualified: str,
        position_or_name: int | str,
        argument: tuple[str, _PassingForm],
        node: ast.Call,
    ) -> None:
        """Collect clues from a call of a library's function."""
        role = self._roles.role_of(qualified, position_or_name)
        if role is None:
            return
        name, passing = argument
        reason = f"line {node.lineno}: passed to {qualified} as {role.name}"
        facts = {
            _PassingForm.UNCHANGED: role.facts,
            _PassingForm.ITEM: role.item_facts(),
            _PassingForm.SCALED: tuple(
                fact
                for fact in role.facts
                if isinstance(fact, PossibleValues) and not fact.guess.examples
            ),
        }[passing]
        self.clues += [
            ArgumentClue(name, ArgumentClueSource.LIBRARY, fact, reason) for fact in facts
        ]

    def _passed_arguments(self, value: ast.expr) -> Iterator[tuple[str, _PassingForm]]:
        """Yield the subject's arguments that an expression contains, and in which form."""
        match value:
            case ast.Name():
                candidates = [(value, _PassingForm.UNCHANGED)]
            case ast.Tuple(elts=items) | ast.List(elts=items):
                candidates = [
                    (item, _PassingForm.ITEM) for item in items if isinstance(item, ast.Name)
                ]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Name() as inner):
                candidates = [(inner, _PassingForm.SCALED)]
            case ast.BinOp(left=ast.Name() as inner, op=ast.Mult() | ast.Pow(), right=factor):
                candidates = [] if _is_float(factor) else [(inner, _PassingForm.SCALED)]
            case _:
                candidates = []
        for node, passing in candidates:
            name = self._flow.argument_of(node)
            if name:
                yield name, passing


def _is_float(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _is_int(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int
