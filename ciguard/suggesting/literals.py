"""What expressions of a program stand for, as far as that can be read without running it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.sources import own_nodes
from ciguard.suggesting.clues import ArgumentKind, Guess, NumberRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MAX_DEPTH = 4
_SHAPED = {"zeros", "ones", "empty", "full", "rand", "randn", "random", "random_sample", "normal"}
_ARRAYS = ("numpy.", "torch.")


def guess_of(
    node: ast.expr | None, names: Mapping[str, ast.expr] | None = None, depth: int = 0
) -> Guess | None:
    """Return what an expression stands for; None where that cannot be said.

    Args:
        node: the expression.
        names: what the names mean that are bound once.
        depth: of names that were followed.
    """
    known = names or {}
    match node:
        case ast.Constant(value=value):
            return _plain(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return _plain(-value)
        case ast.Name(id=name) if name in known and depth < _MAX_DEPTH:
            return guess_of(known[name], known, depth + 1)
        case ast.Tuple(elts=items):
            return _several(ArgumentKind.TUPLE, [guess_of(item, known, depth) for item in items])
        case ast.List(elts=items):
            return _several(ArgumentKind.LIST, [guess_of(item, known, depth) for item in items])
        case _:
            return None


def array_of(
    node: ast.expr, qualified: str, names: Mapping[str, ast.expr] | None = None
) -> Guess | None:
    """Return what a call that makes an array makes: `np.zeros((4, 3))`, `torch.randn(2, 8)`.

    Args:
        node: the expression.
        qualified: name of the function that it calls.
        names: see `guess_of`.
    """
    made = qualified.rpartition(".")[2]
    if not isinstance(node, ast.Call) or not qualified.startswith(_ARRAYS):
        return None
    if made not in _SHAPED:
        return None
    kind = ArgumentKind.TENSOR if qualified.startswith("torch.") else ArgumentKind.ARRAY
    first = guess_of(node.args[0], names) if node.args else None
    if first is not None and first.kind in {ArgumentKind.TUPLE, ArgumentKind.LIST}:
        sides: tuple[Guess, ...] = first.items
    else:
        given = [guess_of(argument, names) for argument in node.args]
        sides = tuple(item for item in given if item is not None and item.kind is ArgumentKind.INT)
    if not sides:
        return Guess(kind)
    return Guess(kind, sides=(None,) * len(sides))


def bound_once(nodes: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Return what names stand for that a body, not its functions, binds exactly once."""
    found: dict[str, ast.expr] = {}
    again: set[str] = set()
    for node in own_nodes(nodes):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                again |= {name} & found.keys()
                found[name] = value
            case ast.AugAssign(target=ast.Name(id=name)) | ast.For(target=ast.Name(id=name)):
                again.add(name)
            case _:
                pass
    return {name: value for name, value in found.items() if name not in again}


def looped_over(nodes: Iterable[ast.stmt]) -> dict[str, list[Guess]]:
    """Return what the variables of loops stand for: `for k in (1, 3)`, `for k in range(2, 9)`."""
    found: dict[str, list[Guess]] = {}
    for node in own_nodes(nodes):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, []).extend(_iterated(node.iter))
    return found


def _iterated(node: ast.expr) -> list[Guess]:
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [guess for item in items if (guess := guess_of(item)) is not None]
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int() as stop)]):
            return [Guess(ArgumentKind.INT, seen=(0, stop - 1))]
        case ast.Call(
            func=ast.Name(id="range"),
            args=[ast.Constant(value=int() as start), ast.Constant(value=int() as stop)],
        ):
            return [Guess(ArgumentKind.INT, seen=(start, stop - 1))]
        case _:
            return []


def _plain(value: object) -> Guess | None:
    match value:
        case None:
            return Guess(ArgumentKind.NONE)
        case bool():
            return Guess(ArgumentKind.BOOL, seen=(value,))
        case int():
            return Guess(ArgumentKind.INT, seen=(value,))
        case float():
            return Guess(ArgumentKind.FLOAT, seen=(value,))
        case str():
            return Guess(ArgumentKind.TEXT, seen=(value,))
        case _:
            return None


def _several(kind: ArgumentKind, items: list[Guess | None]) -> Guess | None:
    known = tuple(item for item in items if item is not None)
    if not known or (len(known) < len(items)):
        return None
    length = NumberRange(len(items), len(items))
    return Guess(kind, items=known, length=length)
