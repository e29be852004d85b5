"""What methods of texts, and regular expressions, make of a text."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import z3

from ciguard.applications.solving.operations import DIGITS, computed, together
from ciguard.applications.solving.patterns import (
    ANYTHING,
    NotUnderstoodError,
    joined,
    pattern_of,
    without,
)
from ciguard.applications.solving.terms import (
    UNKNOWN,
    Listed,
    Need,
    Sym,
    either,
    now,
    term_of,
)

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Sequence

    from ciguard.applications.solving.path import Path
    from ciguard.applications.solving.patterns import Pattern
    from ciguard.applications.solving.terms import Term

_MAX_PIECES = 6
_MAX_LENGTH = 200
"""Of a text that patterns are tried on, as long as those are that answers are made of."""
_LETTERS = z3.Union(z3.Range("a", "z"), z3.Range("A", "Z"))
_FORMS = {
    "isdigit": DIGITS, "isdecimal": DIGITS, "isnumeric": DIGITS, "isalpha": z3.Plus(_LETTERS),
    "isalnum": z3.Plus(z3.Union(_LETTERS, z3.Range("0", "9"))), "isspace": z3.Plus(z3.Re(" ")),
    "isupper": z3.Plus(z3.Range("A", "Z")), "islower": z3.Plus(z3.Range("a", "z")),
}  # fmt: skip
_NO_CAPITALS = z3.Star(without("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
_ALL_CAPITALS = z3.Star(without("abcdefghijklmnopqrstuvwxyz"))
_TRIMMED = z3.Union(
    z3.Re(""), without(" \n\t"), z3.Concat(without(" \n\t"), ANYTHING, without(" \n\t"))
)
_UNCHANGED = {
    "lower": _NO_CAPITALS, "casefold": _NO_CAPITALS, "upper": _ALL_CAPITALS, "strip": _TRIMMED,
    "lstrip": _TRIMMED, "rstrip": _TRIMMED,
    "title": z3.Concat(z3.Range("A", "Z"), z3.Star(z3.Range("a", "z"))),
    "capitalize": z3.Concat(z3.Range("A", "Z"), _NO_CAPITALS),
}  # fmt: skip
"""Texts that a method leaves as they are: it is solved for these."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What a regular expression found, or that it found nothing."""

    is_there: Any
    groups: tuple[Any, ...] = ()
    """The whole first; none if nothing was found."""
    names: tuple[tuple[str, int], ...] = ()


def method(path: Path, text: Any, name: str, given: Sequence[Any]) -> Any:
    """Return what a method makes of a text; UNKNOWN of methods that are not understood."""
    if name in _OF_PATH:
        return _OF_PATH[name](path, text, given)
    made = _METHODS.get(name)
    return UNKNOWN if made is None else made(text, name, given)


def _tested(text: Any, name: str, given: Sequence[Any]) -> Any:
    present = computed(lambda: getattr(now(text), name)(*given))
    return together(present, lambda: z3.InRe(text.term, _FORMS[name]), (text,))


def _unchanged(text: Any, name: str, given: Sequence[Any]) -> Any:
    if given:
        return computed(lambda: getattr(now(text), name)(*map(now, given)))
    present = getattr(now(text), name)()
    if not isinstance(text, Sym):
        return present
    need = Need(z3.InRe(text.term, _UNCHANGED[name]), present == text.now)
    return Sym(text.term, present, (*text.needs, need))


def _edge(text: Any, name: str, given: Sequence[Any]) -> Any:
    if len(given) != 1:
        return UNKNOWN
    several = given[0] if isinstance(given[0], tuple) else (given[0],)
    test = z3.PrefixOf if name == "startswith" else z3.SuffixOf

    def begins(one: Any) -> Any:
        present = computed(lambda: getattr(now(text), name)(now(one)))
        return together(present, lambda: test(term_of(one), term_of(text)), (text, one))

    return either([begins(one) for one in several])


def _replaced(text: Any, name: str, given: Sequence[Any]) -> Any:
    del name
    present = computed(lambda: now(text).replace(*map(now, given)))
    if not isinstance(text, Sym):
        return present
    # Solved for texts in which it changes nothing.
    need = Need(z3.Not(z3.Contains(text.term, term_of(given[0]))), present == text.now)
    return Sym(text.term, present, (*text.needs, need))


def _cut(text: Any, name: str, given: Sequence[Any]) -> Any:
    if len(given) != 1:
        return UNKNOWN
    part = now(given[0])
    present = computed(lambda: getattr(now(text), name)(part))

    def term() -> Term:
        size = z3.Length(text.term)
        if name == "removeprefix":
            rest = z3.SubString(text.term, len(part), size - len(part))
            return z3.If(z3.PrefixOf(z3.StringVal(part), text.term), rest, text.term)
        rest = z3.SubString(text.term, 0, size - len(part))
        return z3.If(z3.SuffixOf(z3.StringVal(part), text.term), rest, text.term)

    return together(present, term, (text,))


def _found_at(text: Any, name: str, given: Sequence[Any]) -> Any:
    if len(given) != 1:
        return UNKNOWN
    part = given[0]
    present = computed(lambda: getattr(now(text), name)(now(part)))
    return together(present, lambda: z3.IndexOf(term_of(text), term_of(part), 0), (text, part))


def _join(text: Any, name: str, given: Sequence[Any]) -> Any:
    del name
    items = given[0] if given else UNKNOWN
    if not isinstance(items, list | tuple) or not all(isinstance(now(i), str) for i in items):
        return UNKNOWN
    present = now(text).join(map(now, items))
    terms = [term for one in items for term in (term_of(text), term_of(one))][1:]
    if len(terms) < 2:  # noqa: PLR2004 - z3 puts no fewer together
        return items[0] if items else present
    return together(present, lambda: z3.Concat(*terms), (text, *items))


# --- pieces ---------------------------------------------------------------------------------------


def _split(path: Path, text: Any, given: Sequence[Any]) -> Any:
    separator = now(given[0]) if given else None
    pieces = computed(lambda: now(text).split(*map(now, given)))
    if not isinstance(text, Sym) or len(given) > 1 or len(pieces) > _MAX_PIECES:
        return pieces
    return _pieces(path, text, pieces, separator)


def _split_lines(path: Path, text: Any, given: Sequence[Any]) -> Any:
    pieces = now(text).splitlines()
    if not isinstance(text, Sym) or given or len(pieces) > _MAX_PIECES:
        return pieces
    return _pieces(path, text, pieces, "\n", may_be_none=True)


def _pieces(
    path: Path,
    text: Sym,
    pieces: Sequence[str],
    separator: str | None,
    *,
    may_be_none: bool = False,
) -> Listed:
    between = " " if separator is None else separator
    character = without(" \n\t") if separator is None else without(between[0])
    one = z3.Plus(character) if separator is None else z3.Star(character)
    count = path.fresh(z3.IntSort(), len(pieces))
    first = 0 if separator is None or may_be_none else 1
    forms = [
        (
            size,
            joined([f for at in range(size) for f in ((z3.Re(between),) if at else ()) + (one,)]),
        )
        for size in range(first, _MAX_PIECES + 1)
    ]
    told = [(count == size) == z3.InRe(text.term, form) for size, form in forms]
    if may_be_none:
        told[1] = (count == 1) == z3.InRe(text.term, z3.Plus(character))
    holds = between.join(pieces) == text.now
    counted = Need(z3.And(count >= first, count <= _MAX_PIECES, *told), holds)
    needs = (*text.needs, counted)
    names = [path.fresh(z3.StringSort(), piece) for piece in pieces]
    if names:
        terms = [
            t for at, n in enumerate(names) for t in ((z3.StringVal(between),) if at else ()) + (n,)
        ]
        whole = z3.Concat(*terms) if len(terms) > 1 else terms[0]
        made = z3.And(text.term == whole, *[z3.InRe(name, one) for name in names])
        parted = (*text.needs, Need(made, holds))
    else:
        parted = needs
    items = [Sym(name, piece, parted) for name, piece in zip(names, pieces, strict=True)]
    return Listed(items, Sym(count, len(pieces), needs))


def _partition(path: Path, text: Any, given: Sequence[Any]) -> Any:
    if len(given) != 1:
        return UNKNOWN
    separator = now(given[0])
    parts = computed(lambda: now(text).partition(separator))
    if not isinstance(text, Sym):
        return parts
    names = [path.fresh(z3.StringSort(), parts[0]), path.fresh(z3.StringSort(), parts[2])]
    sought = z3.StringVal(separator)
    is_there = z3.Contains(text.term, sought)
    made = z3.If(
        is_there,
        z3.And(
            text.term == z3.Concat(names[0], sought, names[1]),
            z3.Not(z3.Contains(names[0], sought)),
        ),
        z3.And(text.term == names[0], names[1] == ""),
    )
    needs = (*text.needs, Need(made, holds=True))
    middle = z3.If(is_there, sought, z3.StringVal(""))
    terms = (names[0], middle, names[1])
    return tuple(Sym(term, part, needs) for term, part in zip(terms, parts, strict=True))


# --- regular expressions --------------------------------------------------------------------------


def searched(path: Path, pattern: re.Pattern[str], text: Any, how: str) -> Any:
    """Return what `search`, `match` or `fullmatch` finds in a text."""
    try:
        known = pattern_of(pattern.pattern, pattern.flags & ~re.UNICODE)
    except NotUnderstoodError:
        return UNKNOWN
    if not isinstance(now(text), str) or len(now(text)) > _MAX_LENGTH:
        return UNKNOWN
    match = getattr(pattern, how)(now(text))
    names = tuple(pattern.groupindex.items())
    if not isinstance(text, Sym):
        groups = () if match is None else (match[0], *match.groups())
        return Matched(match is not None, groups, names)
    begins = known.begins or how != "search"
    ends = known.ends or how == "fullmatch"
    around = [*([] if begins else [ANYTHING]), known.form, *([] if ends else [ANYTHING])]
    is_there = Sym(z3.InRe(text.term, joined(around)), match is not None, text.needs)
    if match is None:
        return Matched(is_there)
    return Matched(is_there, _groups(path, known, match, text), names)


def _groups(path: Path, known: Pattern, match: re.Match[str], text: Sym) -> tuple[Any, ...]:
    """Return what the groups took, as parts of the text."""
    string = z3.StringSort()
    # What is around it stays: a pattern might find something else otherwise.
    before = z3.StringVal(match.string[: match.start()])
    after = z3.StringVal(match.string[match.end() :])
    inner, forms, taken = [], [], {}
    for piece in known.pieces:
        if piece.text:
            inner.append(z3.StringVal(piece.text))
            continue
        present = match[piece.group] if piece.group else None
        part = path.fresh(string, present or "") if piece.group else z3.FreshConst(string, "part")
        inner.append(part)
        forms.append(z3.InRe(part, piece.form))
        if present is not None:
            taken[piece.group] = part
    middle = z3.Concat(*inner) if len(inner) > 1 else (inner[0] if inner else z3.StringVal(""))
    made = z3.And(text.term == z3.Concat(before, middle, after), *forms)
    needs = (*text.needs, Need(made, holds=True))
    groups: list[Any] = [Sym(middle, match[0], needs)]
    groups += [
        Sym(taken[at], group, needs) if at in taken else group
        for at, group in enumerate(match.groups(), 1)
    ]
    return tuple(groups)


def found_all(path: Path, pattern: re.Pattern[str], text: Any) -> Any:
    """Return what `findall` finds: it is solved for one, and for none."""
    first = searched(path, pattern, text, "search")
    if not isinstance(first, Matched) or not isinstance(text, Sym):
        return computed(lambda: pattern.findall(now(text))) if isinstance(text, str) else UNKNOWN
    present = pattern.findall(str(text.now))
    if pattern.groups > 1:
        return UNKNOWN
    items: list[Any] = list(present)
    if len(items) == 1:
        items = [first.groups[min(pattern.groups, 1)]]
    count = path.fresh(z3.IntSort(), len(items))
    need = Need(first.is_there.term == (count > 0), holds=True)
    return Listed(items, Sym(count, len(items), (*first.is_there.needs, need)))


_METHODS: dict[str, Callable[[Any, str, Sequence[Any]], Any]] = {
    **dict.fromkeys(_FORMS, _tested),
    **dict.fromkeys(_UNCHANGED, _unchanged),
    "startswith": _edge, "endswith": _edge, "replace": _replaced, "removeprefix": _cut,
    "removesuffix": _cut, "find": _found_at, "index": _found_at, "join": _join,
}  # fmt: skip
_OF_PATH: dict[str, Callable[[Path, Any, Sequence[Any]], Any]] = {
    "split": _split, "splitlines": _split_lines, "partition": _partition,
}  # fmt: skip


def read_number(path: Path, text: Sym, node: ast.AST, *, is_whole: bool) -> Any:
    """Return what `int` or `float` makes of a text: solved for those written plainly.

    Raises:
        Raised: if it is no number.
    """
    written = str(text.now)
    plain = re.fullmatch(r"([0-9]+)(?:\.([0-9]{1,3}))?", written)
    is_plain = plain is not None and not (is_whole and plain[2])
    form = DIGITS if is_whole else z3.Concat(DIGITS, z3.Option(z3.Concat(z3.Re("."), DIGITS)))
    path.check(Sym(z3.InRe(text.term, form), is_plain, text.needs), node)
    present = computed(lambda: int(written) if is_whole else float(written))
    if plain is None or not is_plain or not math.isfinite(present):
        return present
    before = path.fresh(z3.IntSort(), int(plain[1]))
    whole, holds = z3.IntToStr(before), plain[1] == str(int(plain[1]))
    if not plain[2]:
        made = z3.And(before >= 0, text.term == whole)
        number = before if is_whole else z3.ToReal(before)
        return Sym(number, present, (*text.needs, Need(made, holds)))
    places = len(plain[2])
    after = path.fresh(z3.StringSort(), plain[2])
    digits = z3.Loop(z3.Range("0", "9"), places, places)
    made = z3.And(
        before >= 0, z3.InRe(after, digits), text.term == z3.Concat(whole, z3.StringVal("."), after)
    )
    number = z3.ToReal(before) + z3.ToReal(z3.StrToInt(after)) / 10**places
    return Sym(number, present, (*text.needs, Need(made, holds)))
