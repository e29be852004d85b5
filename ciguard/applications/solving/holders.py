"""What lists, dictionaries and texts hold, by place, by key, and one after the other."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import z3

from ciguard.applications.solving import operations
from ciguard.applications.solving.terms import UNKNOWN, Listed, Sym, is_scalar, now

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.applications.solving.path import Path


_MAX_KEYS = 8


def guarded_items(value: Any) -> list[tuple[Any, Any]] | None:
    """Return what a loop may go over, and when each of it is there; None if nobody knows."""
    match value:
        case Listed(guarded=guarded) if guarded:
            return list(guarded)
        case list() | tuple() | set() | frozenset() | dict():
            return [(True, one) for one in value]
        case str():
            return [(True, one) for one in value]
        case _:
            return None


def is_key(value: Any) -> bool:
    """Return whether a value, as it is now, may be looked up in a dictionary."""
    try:
        hash(value)
    except TypeError:
        return False
    return value is not UNKNOWN


def looked_up(held: Mapping[Any, Any], at: Any, otherwise: Any = None) -> Any:
    """Return what a dictionary holds, or something else.

    Raises:
        Raised: if there is nothing, and nothing else either.
    """
    present = now(at)
    if not is_key(present):
        return UNKNOWN
    if otherwise is None or present in held:
        found = operations.computed(lambda: held[present])
    else:
        found = otherwise
    if not isinstance(at, Sym) or not is_scalar(found):
        return found
    several = [*held.values(), *([] if otherwise is None else [otherwise])]
    kinds = {isinstance(now(one), str) for one in several}
    if not all(is_scalar(one) for one in several) or len(kinds) != 1 or not held:
        return found
    chosen = several[-1]
    for key, value in held.items():
        chosen = operations.chosen(operations.equal(at, key), value, chosen)
    return chosen


def offer_keys(held: Mapping[Any, Any], at: Any, path: Path, node: ast.AST) -> None:
    """Note that what is looked up in a dictionary may be one of its keys, or none."""
    for key in list(held)[:_MAX_KEYS]:
        path.offer(operations.equal(at, key), node)


def chosen_by(at: Sym, held: Sequence[Any]) -> Any:
    """Return the item of a list that a number says, such as the name of a likelihood."""
    present = operations.computed(lambda: held[int(at.now)])
    if not held or not all(is_scalar(one) for one in held):
        return present
    found = held[-1]
    for place, one in enumerate(held[:-1]):
        found = operations.chosen(operations.equal(at, place), one, found)
    return found


def substring(term: Any, lower: int | None, upper: int | None) -> Any:
    """Return the term of a part of a text, as a slice takes it."""
    size = z3.Length(term)
    first = _edge(lower or 0, size)
    last = size if upper is None else _edge(upper, size)
    return z3.SubString(term, first, last - first)


def _edge(at: int, size: Any) -> Any:
    return z3.IntVal(at) if at >= 0 else size + at


def iterated(value: Any, path: Path, node: ast.AST) -> Iterator[Any]:
    """Yield what a loop goes over, and note that it may go over more or less."""
    items = guarded_items(value)
    if items is None:
        if path.decide(UNKNOWN, node):
            yield UNKNOWN
        return
    offer_sizes(value, path, node)
    for is_in, one in items:
        if path.decide(is_in, node):
            yield one


def offer_sizes(value: Any, path: Path, node: ast.AST) -> None:
    """Note that a list may be longer or shorter."""
    if isinstance(value, Listed) and value.size is not None:
        for size in (len(value), 0):
            path.offer(operations.compared(ast.Gt(), value.size, size), node)
