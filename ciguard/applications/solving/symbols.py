"""Values that answers are made of, each a symbol: z3 may choose it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import z3

from ciguard.applications.solving.terms import Sym, term_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.applications.solving.terms import Scalar, Term

Assignment: TypeAlias = "Mapping[str, Scalar]"
"""Values of symbols by name; those that it does not name are plain."""
LIKELIHOODS = ("UNKNOWN", "VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
KINDS = (
    "UNKNOWN", "PERSON", "LOCATION", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD",
    "OTHER", "", "PHONE_NUMBER", "ADDRESS", "DATE", "NUMBER", "PRICE",
)  # fmt: skip
"""Of Google's entities, by number; there is no eighth."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A value that z3 may choose."""

    term: Term
    now: Scalar
    domain: tuple[Term, ...]
    """What holds of it, whatever is chosen."""


class Symbols:
    """All of one answer, or of several that are given together."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self.made: dict[str, Symbol] = {}
        """By name."""
        self.held: list[Term] = []
        """What holds of several together, whatever is chosen."""

    def whole(self, name: str, usual: int, between: tuple[int, int]) -> Sym:
        """Return a whole number."""
        return self._number(z3.Int(name), name, usual, between)

    def number(self, name: str, usual: float, between: tuple[float, float]) -> Sym:
        """Return a number."""
        usual = min(max(usual, between[0]), between[1])
        return self._number(z3.Real(name), name, usual, between)

    def flag(self, name: str, *, usual: bool) -> Sym:
        """Return a truth value."""
        return self._made(z3.Bool(name), name, usual=usual)

    def text(self, name: str, usual: str, form: Term) -> Sym:
        """Return a text.

        Args:
            name: of the symbol.
            usual: what it is in a plain answer.
            form: that it has, a regular expression of z3.
        """
        term = z3.String(name)
        return self._made(term, name, z3.InRe(term, form), usual=usual)

    def one_of(self, name: str, texts: Sequence[str], usual: str) -> Sym:
        """Return one of several texts."""
        return name_of(self.member(name, texts, usual))

    def member(self, name: str, names: Sequence[str], usual: str) -> Sym:
        """Return a member of an enumeration, which is a number.

        Args:
            name: of the symbol.
            names: of the members by their numbers; empty where a number has none.
            usual: name of the member in a plain answer.
        """
        term = z3.Int(name)
        gaps = [term != at for at, one in enumerate(names) if not one]
        inside = (term >= 0, term < len(names), *gaps)
        made = self._made(term, name, *inside, usual=names.index(usual))
        return Sym(term, made.now, names=tuple(names))

    def descend(self, numbers: Sequence[Sym]) -> None:
        """Hold that no number is more than the one before it."""
        for one, other in itertools.pairwise(numbers):
            self.held.append(one.term >= other.term)

    def _number(self, term: Term, name: str, usual: float, between: tuple[float, float]) -> Sym:
        least, most = map(term_of, between)
        return self._made(term, name, term >= least, term <= most, usual=usual)

    def _made(self, term: Term, name: str, *domain: Term, usual: Scalar) -> Sym:
        present = self._assignment.get(name, usual)
        self.made[name] = Symbol(term, present, domain)
        return Sym(term, present)


def name_of(member: Sym) -> Sym:
    """Return the name of a member of an enumeration."""
    term: Term = z3.StringVal(member.names[-1])
    for at, name in reversed(list(enumerate(member.names[:-1]))):
        term = z3.If(member.term == at, z3.StringVal(name), term)
    return Sym(term, member.names[int(member.now)], member.needs)


def member_of(dotted: str) -> int | None:
    """Return the number of `vision.Likelihood.LIKELY` and the like; None if it is no such thing."""
    *owner, name = dotted.split(".")
    kind = owner[-1] if owner else ""
    for names, title in ((LIKELIHOODS, "Likelihood"), (KINDS, "Type")):
        if kind == title and name in names:
            return names.index(name)
    return None
