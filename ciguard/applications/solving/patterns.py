"""Regular expressions as z3 has them, and what is taken out of a text by one."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import z3

# Python parses patterns itself; its parser has had this name since 3.11.
from re import _constants, _parser  # type: ignore[attr-defined]  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ciguard.applications.solving.terms import Term

_ALL = [chr(code) for code in range(32, 127)] + ["\n", "\t"]
"""Characters that answers are made of."""
_MAX_REPEATED = 30


class NotUnderstoodError(Exception):
    """A pattern does something that has no term."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a pattern, from left to right."""

    form: Term
    group: int = 0
    """Its number, if it is a group; 0 otherwise."""
    text: str = ""
    """If it is nothing but a text."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression."""

    pieces: tuple[Piece, ...]
    begins: bool
    """Whether it holds from the beginning of a text on only."""
    ends: bool

    @property
    def form(self) -> Term:
        """All of it."""
        return joined([piece.form for piece in self.pieces])


def joined(forms: Sequence[Term]) -> Term:
    """Return forms, one after the other."""
    if not forms:
        return z3.Re("")
    return forms[0] if len(forms) == 1 else z3.Concat(*forms)


def _any_of(characters: Sequence[str]) -> Term:
    """Return a form of one of several characters, which are told in ranges."""
    codes = sorted(map(ord, set(characters)))
    ranges: list[tuple[int, int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = ranges[-1][0], code
        else:
            ranges.append((code, code))
    if not ranges:
        raise NotUnderstoodError
    forms = [z3.Range(chr(a), chr(b)) for a, b in ranges]
    return forms[0] if len(forms) == 1 else z3.Union(*forms)


def without(characters: str) -> Term:
    """Return the form of one character that is none of these."""
    return _any_of([one for one in _ALL if one not in characters])


ANYTHING = z3.Star(_any_of(_ALL))


@cache
def pattern_of(pattern: str, flags: int = 0) -> Pattern:
    """Return a regular expression as z3 has it.

    Raises:
        NotUnderstoodError: if z3 has no such thing, or it could take long to try.
    """
    try:
        parsed = _parser.parse(pattern, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise NotUnderstoodError from error
    parts = list(parsed)
    begins = bool(parts) and parts[0][0] is _constants.AT and "BEGINNING" in str(parts[0][1])
    ends = bool(parts) and parts[-1][0] is _constants.AT and "END" in str(parts[-1][1])
    parts = parts[int(begins) : len(parts) - int(ends)]
    translated = _Translated(parsed.state.flags | flags)
    return Pattern(tuple(_merged(map(translated.piece, parts))), begins, ends)


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Put texts that follow each other together."""
    for is_text, several in itertools.groupby(pieces, lambda piece: bool(piece.text)):
        if is_text:
            text = "".join(piece.text for piece in several)
            yield Piece(z3.Re(text), text=text)
        else:
            yield from several


class _Translated:
    """Takes parsed patterns to forms."""

    def __init__(self, flags: int) -> None:
        self._flags = flags
        self._depth = 0

    def piece(self, part: tuple[Any, Any]) -> Piece:
        kind, given = part
        group = given[0] or 0 if kind is _constants.SUBPATTERN else 0
        is_text = kind is _constants.LITERAL and not self._flags & re.IGNORECASE
        return Piece(self.form(part), group, chr(given) if is_text else "")

    def form(self, part: tuple[Any, Any]) -> Term:
        kind, given = part
        makes: dict[Any, Callable[[Any], Term]] = {
            _constants.LITERAL: lambda code: self._character(chr(code)),
            _constants.NOT_LITERAL: lambda code: without(chr(code)),
            _constants.ANY: lambda _: without("\n"),
            _constants.IN: self._one_of,
            _constants.MAX_REPEAT: self._repeated,
            _constants.MIN_REPEAT: self._repeated,
            _constants.SUBPATTERN: lambda group: self._all(group[3]),
            _constants.BRANCH: lambda either: z3.Union(*map(self._all, either[1])),
        }
        if kind not in makes:
            raise NotUnderstoodError
        return makes[kind](given)

    def _all(self, parts: Any) -> Term:
        return joined([self.form(one) for one in parts])

    def _character(self, one: str) -> Term:
        if self._flags & re.IGNORECASE and one.isalpha():
            return z3.Union(z3.Re(one.lower()), z3.Re(one.upper()))
        return z3.Re(one)

    def _one_of(self, given: Any) -> Term:
        escape = re.compile(_class_of(given), self._flags & re.IGNORECASE)
        return _any_of([one for one in _ALL if escape.fullmatch(one)])

    def _repeated(self, given: Any) -> Term:
        least, most, inner = given
        if self._depth or least > _MAX_REPEATED:
            raise NotUnderstoodError  # one repeated within another takes Python long, if it fails
        self._depth += most is _constants.MAXREPEAT
        form = self._all(inner)
        self._depth -= most is _constants.MAXREPEAT
        if most is not _constants.MAXREPEAT:
            return z3.Loop(form, least, min(int(most), _MAX_REPEATED))
        if not least:
            return z3.Star(form)
        return z3.Concat(z3.Loop(form, least, least), z3.Star(form)) if least > 1 else z3.Plus(form)


_CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d", _constants.CATEGORY_NOT_DIGIT: r"\D",
    _constants.CATEGORY_SPACE: r"\s", _constants.CATEGORY_NOT_SPACE: r"\S",
    _constants.CATEGORY_WORD: r"\w", _constants.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _class_of(given: Any) -> str:
    """Write a class of characters again."""
    written = ""
    for kind, what in given:
        if kind is _constants.NEGATE:
            written += "^"
        elif kind is _constants.LITERAL:
            written += re.escape(chr(what))
        elif kind is _constants.RANGE:
            written += f"{re.escape(chr(what[0]))}-{re.escape(chr(what[1]))}"
        else:
            written += _CATEGORIES[what]
    return f"[{written}]"
