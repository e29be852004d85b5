"""What operators and plain functions make of values: as Python does, and as terms."""

from __future__ import annotations

import ast
import math
import operator
from typing import TYPE_CHECKING, Any

import z3

from ciguard.applications.solving.terms import (
    UNKNOWN,
    Listed,
    Need,
    Raised,
    Record,
    Sym,
    both,
    either,
    is_scalar,
    needs_of,
    negated,
    now,
    number_of,
    term_of,
    truth_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.applications.solving.terms import Term

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def computed(make: Callable[[], Any]) -> Any:
    """Return what Python makes of values as they are now.

    Raises:
        Raised: if Python raises, as it would in the application.
    """
    try:
        return make()
    except Exception as error:
        raise Raised(error, type(error).__name__) from error


def together(present: Any, make: Callable[[], Term | None], parts: Sequence[Any]) -> Any:
    """Return a value with its term, if it depends on an answer and there is one.

    Args:
        present: what it is now.
        make: returns its term; None if there is none.
        parts: what it is made of.
    """
    if not any(isinstance(one, Sym) for one in parts) or not isinstance(
        present, bool | int | float | str
    ):
        return present
    if isinstance(present, float) and not math.isfinite(present):
        return present
    try:
        term = make()
    except z3.Z3Exception:  # of values that z3 does not compute with
        return present
    return present if term is None else Sym(term, present, needs_of(parts))


# --- operators ------------------------------------------------------------------------------------


def binary(op: ast.operator, left: Any, right: Any) -> Any:
    """Return what an operator makes of two values."""
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return [*left, *right] if isinstance(op, ast.Add) else UNKNOWN
    if type(op) not in _BINARY or not (is_scalar(left) and is_scalar(right)):
        return UNKNOWN
    a, b = now(left), now(right)
    if isinstance(a, str) and not isinstance(op, ast.Add):
        return UNKNOWN
    if isinstance(b, str) and isinstance(op, ast.Mult):
        return UNKNOWN
    present = computed(lambda: _BINARY[type(op)](a, b))
    if isinstance(present, str):
        return together(present, lambda: z3.Concat(term_of(left), term_of(right)), (left, right))
    return together(present, lambda: _arithmetic(op, left, right), (left, right))


def _arithmetic(op: ast.operator, left: Any, right: Any) -> Term | None:
    a, b = number_of(left), number_of(right)
    if isinstance(op, ast.Div):
        return _real(a) / _real(b)
    if not isinstance(op, ast.FloorDiv | ast.Mod):
        return _BINARY[type(op)](a, b)
    if isinstance(right, Sym) or now(right) <= 0 or not (z3.is_int(a) and z3.is_int(b)):
        return None
    return a / b if isinstance(op, ast.FloorDiv) else a % b


def _real(term: Term) -> Term:
    return z3.ToReal(term) if z3.is_int(term) else term


def unary(op: ast.unaryop, value: Any) -> Any:
    """Return what `not`, `-` and `+` make of a value."""
    if isinstance(op, ast.Not):
        return negated(truth_of(value))
    if not is_scalar(value) or isinstance(now(value), str) or not isinstance(op, ast.USub):
        return UNKNOWN
    return together(-now(value), lambda: -number_of(value), (value,))


def compared(op: ast.cmpop, left: Any, right: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Return what a comparison comes to, as the truth that it is."""
    if isinstance(op, ast.NotEq | ast.IsNot | ast.NotIn):
        opposite = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}[type(op)]
        return negated(compared(opposite(), left, right))
    if isinstance(op, ast.In):
        return _held(left, right)
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(op, ast.Is) and (left is None or right is None):
        return _is_none(right if left is None else left)
    if isinstance(op, ast.Eq | ast.Is):
        return equal(left, right)
    if not (is_scalar(left) and is_scalar(right)):
        return UNKNOWN
    order = _ORDERS[type(op)]
    present = computed(lambda: order(now(left), now(right)))
    is_text = isinstance(now(left), str)
    take = term_of if is_text else number_of
    return together(present, lambda: order(take(left), take(right)), (left, right))


def _is_none(value: Any) -> Any:
    return negated(value.is_there) if hasattr(value, "is_there") else value is None


def equal(left: Any, right: Any) -> Any:  # noqa: PLR0911 - likewise
    """Return whether two values are the same."""
    if is_scalar(left) and is_scalar(right):
        a, b = now(left), now(right)
        if isinstance(a, str) != isinstance(b, str):
            return False
        take = term_of if isinstance(a, str) else number_of
        return together(a == b, lambda: take(left) == take(right), (left, right))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if getattr(left, "guarded", ()) or getattr(right, "guarded", ()):
            return UNKNOWN
        if len(left) != len(right):
            is_fixed = getattr(left, "size", None) is None and getattr(right, "size", None) is None
            return False if is_fixed else UNKNOWN
        return both([equal(a, b) for a, b in zip(left, right, strict=True)])
    if UNKNOWN in (left, right):
        return UNKNOWN
    return left is right


def _held(item: Any, holder: Any) -> Any:
    if isinstance(now(holder), str):
        if not is_scalar(item):
            return UNKNOWN
        present = computed(lambda: now(item) in now(holder))
        return together(
            present, lambda: z3.Contains(term_of(holder), term_of(item)), (item, holder)
        )
    if isinstance(holder, Listed) and holder.guarded:
        return either([both([guard, equal(item, one)]) for guard, one in holder.guarded])
    if isinstance(holder, list | tuple | set | frozenset | dict):
        found = [equal(item, one) for one in holder]
        known = [one for one in found if one is not UNKNOWN]
        return either(known) if len(known) == len(found) else UNKNOWN
    if isinstance(holder, Record) and isinstance(item, str) and holder.get(item) is not UNKNOWN:
        return True
    return UNKNOWN


# --- functions ------------------------------------------------------------------------------------


def length(value: Any) -> Any:
    """Return how long something is."""
    match value:
        case Listed(guarded=guarded) if guarded:
            return total([_one_if(guard) for guard, _ in guarded])
        case Listed(size=Sym() as size):
            return size
        case Sym(term=term, now=str(present)):
            return together(len(present), lambda: z3.Length(term), (value,))
        case str() | list() | tuple() | dict() | set():
            return len(value)
        case _:
            return UNKNOWN


def _one_if(truth: Any) -> Any:
    if not isinstance(truth, Sym):
        return UNKNOWN if truth is UNKNOWN else int(truth)
    return Sym(number_of(truth), int(truth.now), truth.needs)


def total(values: Sequence[Any], start: Any = 0) -> Any:
    """Return the sum of values."""
    found = start
    for one in values:
        found = binary(ast.Add(), found, one)
    return found


def elements(value: Any) -> list[Any] | None:
    """Return what is summed up of a list: what is not in it counts nothing; None if unknown."""
    match value:
        case Listed(guarded=guarded) if guarded:
            return [_counted(guard, one) for guard, one in guarded]
        case list() | tuple() | set():
            return list(value)
        case _:
            return None


def _counted(guard: Any, value: Any) -> Any:
    """Return a number, or nothing where it is not in its list."""
    if guard is True or not is_scalar(value) or isinstance(now(value), str):
        return value
    return chosen(guard, value, 0)


def chosen(truth: Any, yes: Any, no: Any) -> Any:
    """Return one of two values, whichever a truth says."""
    if not isinstance(truth, Sym):
        return yes if truth else no
    present = now(yes) if truth.now else now(no)
    return together(
        present,
        lambda: z3.If(truth.term, *_alike(number_or_text(yes), number_or_text(no))),
        (truth, yes, no),
    )


def number_or_text(value: Any) -> Term:
    """Return the term of a scalar, of a truth value as a number."""
    return term_of(value) if isinstance(now(value), str) else number_of(value)


def _alike(a: Term, b: Term) -> tuple[Term, Term]:
    if z3.is_real(a) or z3.is_real(b):
        return _real(a), _real(b)
    return a, b


def absolute(value: Any) -> Any:
    """Return what `abs` does."""
    if not is_scalar(value):
        return UNKNOWN
    present = computed(lambda: abs(now(value)))
    term = number_of(value)
    return together(present, lambda: z3.If(term >= 0, term, -term), (value,))


def rounded(value: Any, digits: Any = 0) -> Any:
    """Return what `round` does."""
    if not is_scalar(value) or not isinstance(digits, int) or not 0 <= digits <= _MAX_DIGITS:
        return UNKNOWN
    present = computed(lambda: round(now(value), digits) if digits else round(now(value)))
    if not isinstance(value, Sym) or z3.is_int(value.term):
        return present
    scaled = number_of(value) * 10**digits + z3.Q(1, 2)
    nearest = z3.ToInt(scaled)
    beyond = scaled - nearest
    need = Need(z3.And(beyond > _EDGE, beyond < 1 - _EDGE), holds=False)
    term = z3.ToReal(nearest) / 10**digits if digits else nearest
    return Sym(term, present, (*value.needs, need))


_MAX_DIGITS = 6
_EDGE = z3.Q(1, 50)
"""Where Python may round either way."""


def floored(value: Any, *, up: bool = False) -> Any:
    """Return what `math.floor` or `math.ceil` does."""
    if not is_scalar(value):
        return UNKNOWN
    present = computed(lambda: math.ceil(now(value)) if up else math.floor(now(value)))
    term = _real(number_of(value))
    return together(present, lambda: -z3.ToInt(-term) if up else z3.ToInt(term), (value,))


def largest(values: Sequence[Any], *, least: bool = False) -> Any:
    """Return the largest or the smallest of several numbers."""
    if not values or not all(is_scalar(one) for one in values):
        return UNKNOWN
    found = values[0]
    for one in values[1:]:
        is_better = compared(ast.Lt() if least else ast.Gt(), one, found)
        found = chosen(is_better, one, found)
    return found


def whole(value: Any) -> Any:
    """Return what `int` makes of a number: what is before the point."""
    present = computed(lambda: int(now(value)))
    term = number_of(value)
    if z3.is_int(term):
        return together(present, lambda: term, (value,))
    return together(present, lambda: z3.If(term >= 0, z3.ToInt(term), -z3.ToInt(-term)), (value,))


DIGITS = z3.Plus(z3.Range("0", "9"))


def as_text(value: Any) -> Any:
    """Return what `str` makes of a value."""
    if isinstance(now(value), str):
        return value
    if not is_scalar(value):
        return UNKNOWN
    present = str(now(value))
    if isinstance(now(value), bool) or not isinstance(now(value), int):
        return present
    term = term_of(value)
    found = together(present, lambda: z3.IntToStr(term), (value,))
    if isinstance(found, Sym):
        return Sym(found.term, present, (*found.needs, Need(term >= 0, bool(now(value) >= 0))))
    return found
