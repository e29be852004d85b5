"""A value as it is now, and as a term of z3: what it may be with another answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import z3

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.domain import Json

Scalar: TypeAlias = bool | int | float | str
Term: TypeAlias = Any
"""Of z3, which has no types."""


@dataclass(frozen=True, slots=True)
class Need:
    """What must hold for a term to be what Python makes of the values in it."""

    term: Term
    holds: bool
    """With the values as they are now."""


@dataclass(frozen=True, slots=True, eq=False)
class Sym:
    """A value that depends on an answer."""

    term: Term
    now: Scalar
    needs: tuple[Need, ...] = ()
    names: tuple[str, ...] = ()
    """Of the members, if it is one of an enumeration, in the order of their numbers."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """What nobody knows here: a file, an argument, what another package makes of something."""


UNKNOWN = Unknown()


class Raised(Exception):  # noqa: N818 - it is what the application raises, no error of ours
    """The application raises here."""

    def __init__(self, error: BaseException | None, name: str, *, is_meant: bool = False) -> None:
        self.error = error
        """None if it is one of the application's own."""
        self.name = name
        self.is_meant = is_meant
        """Whether the application says so itself, by `raise` or `assert`."""
        super().__init__(name)


@dataclass(slots=True)
class Record:
    """A message of a service: what is in it is read by attribute or by key."""

    fields: dict[str, Any] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """Return a field; unknown is what no answer is made of."""
        return self.fields.get(name.removesuffix("_"), UNKNOWN)

    def put(self, path: Sequence[str], value: Any) -> None:
        """Set a field by its path; a number in it is the place in a list."""
        first, *rest = path
        name = first.removesuffix("_")
        if not rest:
            self.fields[name] = value
        elif rest[0].isdecimal():
            inner = self.fields.setdefault(name, [Record()])
            inner[0].put(rest[1:], value)
        else:
            self.fields.setdefault(name, Record()).put(rest, value)

    def at(self, path: Sequence[str]) -> Any:
        """Return a field by its path, as it was put."""
        found: Any = self
        for part in path:
            found = found[int(part)] if isinstance(found, list) else found.get(part)
        return found

    def to_json(self) -> Json:
        """Return it as it is now, without what nobody knows."""
        return {name: in_json(value) for name, value in self.fields.items() if value is not UNKNOWN}


def in_json(value: Any) -> Json:
    """Return a value as it is now, members of enumerations by their names."""
    match value:
        case Record():
            return value.to_json()
        case Sym(now=present, names=names):
            return names[int(present)] if names else present
        case list():
            return [in_json(one) for one in value]
        case dict():
            return {key: in_json(one) for key, one in value.items()}
        case _:
            return value


class Listed(list[Any]):
    """A list of which more is known than what is in it now."""

    def __init__(
        self,
        items: Iterable[Any],
        size: Sym | None = None,
        guarded: Sequence[tuple[Any, Any]] = (),
    ) -> None:
        super().__init__(items)
        self.size = size
        """How long it is; None if that is fixed, or told by `guarded`."""
        self.guarded = tuple(guarded)
        """All that may be in it, and when: what is in it now is where that is true."""


def is_scalar(value: Any) -> bool:
    """Return whether a value has a term."""
    return isinstance(value, Sym | bool | int | float | str)


def now(value: Any) -> Any:
    """Return a value as it is now."""
    return value.now if isinstance(value, Sym) else value


def term_of(value: Any) -> Term:
    """Return the term of a scalar."""
    match value:
        case Sym(term=term):
            return term
        case bool():
            return z3.BoolVal(value)
        case int():
            return z3.IntVal(value)
        case float():
            return z3.RealVal(str(Fraction(repr(value))))
        case _:
            return z3.StringVal(value)


def number_of(value: Any) -> Term:
    """Return the term of a number, or of a truth value as the number that it is."""
    term = term_of(value)
    return z3.If(term, z3.IntVal(1), z3.IntVal(0)) if z3.is_bool(term) else term


def product(number: Sym, times: int) -> Sym:
    """Return a number several times."""
    return Sym(number.term * times, number.now * times, number.needs)


def joined(several: Sequence[Sym], between: str) -> Sym:
    """Return texts, one after the other."""
    parts = [t for one in several for t in (z3.StringVal(between), one.term)][1:]
    term = z3.Concat(*parts) if len(parts) > 1 else parts[0]
    return Sym(term, between.join(str(one.now) for one in several), needs_of(several))


def needs_of(values: Iterable[Any]) -> tuple[Need, ...]:
    """Return the needs of several values, each once."""
    found = {id(one): one for v in values if isinstance(v, Sym) for one in v.needs}
    return tuple(found.values())


def truth_of(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Return the truth of a value: a Sym of a truth value, True or False, or UNKNOWN."""
    match value:
        case Sym(term=term, now=present) if z3.is_bool(term):
            return value
        case Sym(term=term, now=present, needs=needs):
            zero = z3.StringVal("") if z3.is_string(term) else 0
            return Sym(term != zero, bool(present), needs)
        case Listed(guarded=guarded) if guarded:
            held = [guard for guard, _ in guarded]
            return either(held)
        case Listed(size=Sym(term=term, now=present, needs=needs)):
            return Sym(term > 0, bool(present), needs)
        case Unknown():
            return UNKNOWN
        case _ if hasattr(value, "is_there"):
            return value.is_there
        case bool() | int() | float() | str() | list() | tuple() | dict() | set() | None:
            return bool(value)
        case _:
            return True


def either(truths: Sequence[Any]) -> Any:
    """Return whether one of several is true."""
    if any(one is True for one in truths):
        return True
    syms = [one for one in truths if isinstance(one, Sym)]
    if not syms:
        return False
    terms = [one.term for one in syms]
    return Sym(z3.Or(*terms), any(one.now for one in syms), needs_of(syms))


def both(truths: Sequence[Any]) -> Any:
    """Return whether all of several are true."""
    if any(one is False for one in truths):
        return False
    syms = [one for one in truths if isinstance(one, Sym)]
    if not syms:
        return True
    return Sym(z3.And(*[one.term for one in syms]), all(one.now for one in syms), needs_of(syms))


def negated(truth: Any) -> Any:
    """Return the opposite of what `truth_of` returns."""
    if isinstance(truth, Sym):
        return Sym(z3.Not(truth.term), not truth.now, truth.needs)
    return truth if isinstance(truth, Unknown) else not truth
