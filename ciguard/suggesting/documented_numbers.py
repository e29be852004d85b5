"""Reads ranges and allowed numbers in the text of a docstring."""

from __future__ import annotations

import ast
import re

from ciguard.suggesting.clues import ANY, NumberRange, PlainValue

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_INTEGER = r"[-+]?\d+"
_BRACKETS = re.compile(
    rf"(?P<open>[\[(])\s*(?P<low>{_NUMBER})\s*,\s*(?P<high>{_NUMBER})\s*(?P<close>[\])])"
)
_BETWEEN = re.compile(
    rf"\b(?:between|from)\s+(?P<low>{_NUMBER})\s+(?:and|to)\s+(?P<high>{_NUMBER})"
)
_NOT = r"(?:must not|may not|cannot|can't|not) (?:be )?"
_SMALLER, _LARGER = "(?:less|fewer|smaller|shorter|lower)", "(?:greater|larger|longer|more|higher)"
OPERATORS = {
    "<=": rf"at most|up to|no {_LARGER} than|{_NOT}(?:{_LARGER} than|exceed(?:ing)?)"
    rf"|{_SMALLER} than or equal to|<=|≤",
    ">=": rf"at least|no {_SMALLER} than|{_NOT}{_SMALLER} than|{_LARGER} than or equal to|>=|≥",
    "<": rf"(?:strictly )?{_SMALLER} than|<",
    ">": rf"(?:strictly )?{_LARGER} than|>",
}
"""Words for each operator; a negation begins before the word that it negates."""
_BOUND = re.compile(
    rf"(?:{'|'.join(f'({words})' for words in OPERATORS.values())})\s*(?P<number>{_NUMBER})",
    re.IGNORECASE,
)
_RANGE_WORD = re.compile(r"\b(?:in|range|interval|within|between|from)\b")
_CONDITION = re.compile(r"\b(?:if|when|where)\b")
_NON_NEGATIVE = re.compile(r"\bnon-?negative\b", re.IGNORECASE)
_POSITIVE = re.compile(
    r"\b(?:strictly|be|is|are) positive\b"
    r"|\bpositive (?:int|float|num|val|real|scalar|finite|odd|even)"
    r"|(?:^|[,;:(.] ?|\ban? )positive(?=\s*(?:$|[.,;)]|and\b|or\b))",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    r"(?:it |values? |this )?(?:must|should|ha(?:s|ve) to|needs? to|is in|in the|allowed|valid)",
    re.IGNORECASE,
)
_BRACES = re.compile(r"\{(?P<items>[^{}]{3,200})\}")
_QUOTED = re.compile(r"'([^']{1,30})'|\"([^\"]{1,30})\"|`{1,2}([A-Za-z]\w{0,29})`{1,2}")
_QUOTED_ITEM = r"`{0,2}['\"][^'\"]{1,30}['\"]`{0,2}"
_LISTED = re.compile(
    r"(?:^|\. |one of|either|must be|can be|options?(?: are)?:?|:)\s*"
    rf"(?P<list>(?:{_QUOTED_ITEM}(?:\s*(?:, or|,|\||/|or|and)\s*)?){{2,}})"
)
_LISTED_INTEGERS = re.compile(
    rf"(?:^|\b(?:one of|either|must be|can be)\b|[:,(])\s*"
    rf"(?P<list>{_INTEGER}(?:\s*,\s*{_INTEGER})*,?\s+or\s+{_INTEGER})\s*(?=$|[.,;)])",
    re.IGNORECASE,
)


def allowed_values(text: str) -> tuple[PlainValue, ...]:
    """Return the values that a text lists as the allowed ones; empty if it lists none.

    Both `{0, 1, 2}` of the NumPy style and lists of quoted texts are read.
    """
    braces = _BRACES.search(text)
    plain = _plain_values(braces["items"]) if braces else ()
    if len(plain) > 1:
        return plain
    match = braces or _LISTED.search(text)
    if match is None:
        return ()
    listed = match[1]
    texts = [next(filter(None, groups)) for groups in _QUOTED.findall(listed)]
    return tuple(dict.fromkeys(texts)) if len(texts) > 1 else ()


def allowed_integers(text: str) -> tuple[int, ...]:
    """Return the integers that a sentence such as "Axis, 0, 1 or -1." lists; empty if none."""
    match = _LISTED_INTEGERS.search(text)
    return tuple(map(int, re.findall(_INTEGER, match["list"]))) if match else ()


def _plain_values(listed: str) -> tuple[PlainValue, ...]:
    """Return the values of a list of Python literals; empty if an item is none."""
    try:
        values = ast.literal_eval(f"[{listed.replace('`', '')}]")
    except (ValueError, SyntaxError):
        return ()
    is_plain = all(value is None or isinstance(value, bool | int | float | str) for value in values)
    return tuple(dict.fromkeys(values)) if is_plain else ()


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, parted at full stops and semicolons."""
    return re.split(r"(?<=[.;])\s+", text)


def sentences_on_range(text: str) -> str:
    """Return the sentences of a description that may state the range of the argument.

    These are the first sentence, and others that demand something.
    """
    first, *others = sentences(text)
    return " ".join([first, *(part for part in others if _DEMAND.match(part))])


def documented_range(text: str) -> NumberRange:
    """Return the range of a number that a text states."""
    stated = range_of_elements(text)
    if stated.high is not None:
        return stated
    return _bounded(text, stated)


def range_of_elements(text: str) -> NumberRange:
    """Return the range of an array's elements that a text states.

    In contrast to a number, "at least 2" is no bound of the elements.
    """
    bounds = ANY
    if _NON_NEGATIVE.search(text):
        bounds = NumberRange(0)
    elif _POSITIVE.search(text):
        bounds = NumberRange(0, open_low=True)
    for match in _BRACKETS.finditer(text):
        if _RANGE_WORD.search(text[max(0, match.start() - 30) : match.start()]):
            low, high = float(match["low"]), float(match["high"])
            stated = NumberRange(low, high, match["open"] == "(", match["close"] == ")")
            return bounds.intersection(stated) if low < high else bounds
    between = _BETWEEN.search(text)
    if between and float(between["low"]) < float(between["high"]):
        return bounds.intersection(NumberRange(float(between["low"]), float(between["high"])))
    return bounds


def stated_operator(match: re.Match[str]) -> str:
    """Return the operator of a match whose first groups are the words of `OPERATORS`."""
    return next(
        operator for operator, words in zip(OPERATORS, match.groups(), strict=False) if words
    )


def _bounded(text: str, bounds: NumberRange) -> NumberRange:
    """Return a range with the single bounds that a text states, such as `>= 0`."""
    for match in _BOUND.finditer(text):
        if _CONDITION.search(text[: match.start()]):
            break  # it says what happens in a range, and not what is valid
        number, operator = float(match["number"]), stated_operator(match)
        if operator in {">", ">="}:
            stated = NumberRange(number, open_low=operator == ">")
        else:
            stated = NumberRange(high=number, open_high=operator == "<")
        bounds = bounds.intersection(stated)
    return bounds
