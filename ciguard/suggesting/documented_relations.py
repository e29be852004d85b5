"""Reads relations of arguments in the text of a docstring, as preconditions."""

from __future__ import annotations

import ast
import re
from enum import Enum
from typing import TYPE_CHECKING

from ciguard.suggesting.documented_numbers import OPERATORS, sentences, stated_operator

if TYPE_CHECKING:
    from collections.abc import Iterator

_LENGTH = (
    r"(?:the )?(?:length|size|number of \w+|count of \w+) (?:of|in) (?:the )?"
    r"`{0,2}(?P<sized>[A-Za-z_]\w*)`{0,2}|`{0,2}len\((?P<measured>[A-Za-z_]\w*)\)`{0,2}"
)
_QUOTED = r"`{1,2}(?P<quoted>[^`]{1,40})`{1,2}"
_PLAIN = r"(?P<plain>[A-Za-z_]\w*|\d+|one|two|three|four)\b"
_ITEMS = (
    r"(?P<items> (?:\w+ )?(?:samples?|elements?|items?|rows?|points?|observations?|entries|entry"
    r"|values?|time ?steps?|frames?)\b)?"
)
_NUMBERS = {"one": "1", "two": "2", "three": "3", "four": "4"}
_RELATION = re.compile(
    rf"(?:{'|'.join(f'({words})' for words in OPERATORS.values())})\s+"
    rf"(?:{_LENGTH}|{_QUOTED}|{_PLAIN}){_ITEMS}",
    re.IGNORECASE,
)
_SAME_LENGTH = re.compile(
    r"\bsame (?:length|number of \w+) (?:as|of) (?:the )?`{0,2}(?P<other>[A-Za-z_]\w*)`{0,2}",
    re.IGNORECASE,
)
_PARITY = re.compile(
    r"\b(?:be (?:positive and |an? )?(?P<demanded>odd|even)\b"
    r"|(?P<kind>odd|even) (?:positive )?(?:int|number))",
    re.IGNORECASE,
)
_DIVISIBLE = re.compile(
    rf"\b(?:divisible by|multiple of)\s+(?:{_LENGTH}|{_QUOTED}|{_PLAIN})", re.IGNORECASE
)
_CONDITION = re.compile(r"\b(?:if|when|where|unless|otherwise|along)\b", re.IGNORECASE)
_ALLOWED_NODES = (
    *(ast.Expression, ast.BinOp, ast.Name, ast.Load, ast.Constant, ast.operator, ast.UnaryOp),
    *(ast.USub, ast.Call),
)


class DescribedKind(Enum):
    """Kind of an argument whose description is read."""

    NUMBER = 0
    INTEGER = 1
    SIZED = 2
    """An array or another sequence."""


def documented_relations(
    name: str, text: str, parameters: frozenset[str], kind: DescribedKind
) -> Iterator[tuple[str, str]]:
    """Yield preconditions that the description of an argument states, each with its sentence.

    "At most the length of `x`" becomes `n <= len(x)`; for a sized argument, "at least `n` samples"
    becomes `len(x) >= n`. A sentence with a condition states nothing.

    Args:
        name: name of the argument.
        text: its documented type and description.
        parameters: names of all arguments.
        kind: kind of the argument.
    """
    others = parameters - {name}
    for sentence in sentences(text):
        if _CONDITION.search(sentence):
            continue
        found = _relations_of_length if kind is DescribedKind.SIZED else _relations_of_number
        yield from ((condition, sentence) for condition in found(name, sentence, others))
        if kind is DescribedKind.INTEGER:
            yield from ((item, sentence) for item in _remainders(name, sentence, others))


def _relations_of_length(name: str, sentence: str, others: frozenset[str]) -> Iterator[str]:
    same = _SAME_LENGTH.search(sentence)
    if same and same["other"] in others:
        yield f"len({name}) == len({same['other']})"
    for operator, match in _matches(sentence):
        bound = _bound(match, others)
        if bound and match["items"]:
            yield f"len({name}) {operator} {bound}"


def _relations_of_number(name: str, sentence: str, others: frozenset[str]) -> Iterator[str]:
    for operator, match in _matches(sentence):
        bound = _bound(match, others)
        if bound and not match["items"] and not bound.isdigit():
            yield f"{name} {operator} {bound}"  # a number is a range of the argument alone


def _remainders(name: str, sentence: str, others: frozenset[str]) -> Iterator[str]:
    parity = _PARITY.search(sentence)
    if parity:
        word = parity["demanded"] or parity["kind"]
        yield f"{name} % 2 == {int(word.lower() == 'odd')}"
    divisible = _DIVISIBLE.search(sentence)
    divisor = _bound(divisible, others) if divisible else ""
    if divisor:
        yield f"{name} % {divisor} == 0"


def _matches(sentence: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield each operator that a sentence states, with the match that contains its bound."""
    for match in _RELATION.finditer(sentence):
        yield stated_operator(match), match


def _bound(match: re.Match[str], parameters: frozenset[str]) -> str:
    """Return the expression of a bound; empty if it is none of the other arguments."""
    sized = match["sized"] or match["measured"]
    if sized:
        return f"len({sized})" if sized in parameters else ""
    text = match["quoted"] or _NUMBERS.get(match["plain"].lower(), match["plain"])
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return ""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    is_simple = all(isinstance(node, _ALLOWED_NODES) for node in ast.walk(tree))
    called = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    is_known = names <= parameters | {"len"} and set(called) <= {"len"}
    return text if is_simple and is_known else ""
