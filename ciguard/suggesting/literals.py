"""Values of a program's expressions, as far as they are known without running the program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.sources import scope_nodes
from ciguard.suggesting.clues import ArgumentKind, Guess, NumberRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MAX_DEPTH = 4
"""Maximum number of names that are followed to find a value."""
_ARRAY_FACTORIES = {
    "zeros",
    "ones",
    "empty",
    "full",
    "rand",
    "randn",
    "random",
    "random_sample",
    "normal",
}
_ARRAY_LIBRARIES = ("numpy.", "torch.")


def guess_of(
    node: ast.expr | None, names: Mapping[str, ast.expr] | None = None, depth: int = 0
) -> Guess | None:
    """Return a guess for an expression's value; None if the value is unknown.

    Args:
        node: the expression.
        names: expressions by the name to which they are assigned once.
        depth: number of names that were followed so far.
    """
    known = names or {}
    match node:
        case ast.Constant(value=value):
            return _literal_guess(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return _literal_guess(-value)
        case ast.Name(id=name) if name in known and depth < _MAX_DEPTH:
            return guess_of(known[name], known, depth + 1)
        case ast.Tuple(elts=items):
            return _sequence_guess(
                ArgumentKind.TUPLE, [guess_of(item, known, depth) for item in items]
            )
        case ast.List(elts=items):
            return _sequence_guess(
                ArgumentKind.LIST, [guess_of(item, known, depth) for item in items]
            )
        case _:
            return None


def array_guess(
    node: ast.expr, qualified: str, names: Mapping[str, ast.expr] | None = None
) -> Guess | None:
    """Return a guess for a call that returns an array, such as `np.zeros((4, 3))`, or None.

    Args:
        node: the call.
        qualified: qualified name of the called function.
        names: expressions by name; see `guess_of`.
    """
    function = qualified.rpartition(".")[2]
    if not isinstance(node, ast.Call) or not qualified.startswith(_ARRAY_LIBRARIES):
        return None
    if function not in _ARRAY_FACTORIES:
        return None
    kind = ArgumentKind.TENSOR if qualified.startswith("torch.") else ArgumentKind.ARRAY
    first = guess_of(node.args[0], names) if node.args else None
    if first is not None and first.kind in {ArgumentKind.TUPLE, ArgumentKind.LIST}:
        dimensions: tuple[Guess, ...] = first.items
    else:
        sizes = [guess_of(argument, names) for argument in node.args]
        dimensions = tuple(size for size in sizes if size and size.kind is ArgumentKind.INT)
    if not dimensions:
        return Guess(kind)
    return Guess(kind, shape=(None,) * len(dimensions))


def single_assignments(nodes: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Return the expressions of names that statements assign exactly once, by name.

    Nested functions are left out.
    """
    values: dict[str, ast.expr] = {}
    reassigned: set[str] = set()
    for node in scope_nodes(nodes):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                reassigned |= {name} & values.keys()
                values[name] = value
            case ast.AugAssign(target=ast.Name(id=name)) | ast.For(target=ast.Name(id=name)):
                reassigned.add(name)
            case _:
                pass
    return {name: value for name, value in values.items() if name not in reassigned}


def loop_guesses(nodes: Iterable[ast.stmt]) -> dict[str, list[Guess]]:
    """Return guesses for the values of loop variables, such as `for k in range(2, 9)`, by name."""
    guesses: dict[str, list[Guess]] = {}
    for node in scope_nodes(nodes):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            guesses.setdefault(node.target.id, []).extend(_item_guesses(node.iter))
    return guesses


def _item_guesses(node: ast.expr) -> list[Guess]:
    """Return guesses for the items over which a loop iterates."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [guess for item in items if (guess := guess_of(item)) is not None]
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int() as stop)]):
            return [Guess(ArgumentKind.INT, examples=(0, stop - 1))]
        case ast.Call(
            func=ast.Name(id="range"),
            args=[ast.Constant(value=int() as start), ast.Constant(value=int() as stop)],
        ):
            return [Guess(ArgumentKind.INT, examples=(start, stop - 1))]
        case _:
            return []


def _literal_guess(value: object) -> Guess | None:
    """Return the guess for a literal's value; None for other types."""
    match value:
        case None:
            return Guess(ArgumentKind.NONE)
        case bool():
            return Guess(ArgumentKind.BOOL, examples=(value,))
        case int():
            return Guess(ArgumentKind.INT, examples=(value,))
        case float():
            return Guess(ArgumentKind.FLOAT, examples=(value,))
        case str():
            return Guess(ArgumentKind.TEXT, examples=(value,))
        case _:
            return None


def _sequence_guess(kind: ArgumentKind, items: list[Guess | None]) -> Guess | None:
    """Return the guess for a sequence; None if it is empty or an item is unknown."""
    known = tuple(item for item in items if item is not None)
    if not known or (len(known) < len(items)):
        return None
    length = NumberRange(len(items), len(items))
    return Guess(kind, items=known, length=length)
