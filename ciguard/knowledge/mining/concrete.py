"""Makes abstract constraints concrete: replaces placeholders by their text in the sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.keywords import structure_name
from ciguard.knowledge.mining.normalise import (
    CHOICE,
    DTYPE,
    ENUM,
    FLOAT,
    NUMBER,
    PARAMETER,
    RELATION,
    SHAPE,
    STRUCTURE,
    Token,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FIELDS = ("dtype", "structure", "ndim", "shape", "range", "enum")
"""Fields of a constraint that rules can state."""

_SHAPE_BEFORE = {"shape", "shapes", "size", "of", "is", "be"}
_RANK_AFTER = {"d", "dimension", "dimensions", "dimensional", "dim", "dims"}
_LENGTH_BEFORE = {"of", "length", "size", "lengths"}
_LENGTH_AFTER = {"element", "elements", "tuple", "tuples", "list", "values", "items"}
_DTYPE_WORDS = {"type", "dtype", "types", "dtypes"}
_NAME = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_BOUND = r"(-?(?:\d+(?:\.\d+)?(?:e-?\d+)?|inf(?:inity)?|[A-Za-z_]\w*(?:\([^()]{0,40}\))?))"
_INTERVAL = re.compile(rf"([\[(])\s*{_BOUND}\s*,\s*{_BOUND}\s*([\])])$")
_RELATION = re.compile(r"(<=|>=|=>|=<|<|>|≤|≥|==)\s*(.*)$")
_UPPER_SIGN = re.compile(r"<=|<|≤")
_OPEN_ENDS = {"inf", "infinity"}


def instantiate(field: str, abstract: str, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the concrete values of an abstract constraint in one sentence; may be empty.

    Args:
        field: the field of the constraint, one of `FIELDS`.
        abstract: a value with a placeholder, such as `D_TYPE`, `>=CONSTANT_NUM`, `&PARAM` or
            `[REXPR]`, or a literal such as `int`, `0` or `[0,inf)`.
        tokens: the normal form of the sentence, with the text behind each placeholder.
    """
    instantiator = _INSTANTIATORS.get((field, abstract))
    if instantiator is not None:
        return tuple(dict.fromkeys(instantiator(tokens)))
    return () if has_placeholder(abstract) else (abstract,)


def placeholder_forms(field: str) -> tuple[str, ...]:
    """Return the abstract values of a field that contain a placeholder."""
    return tuple(abstract for owner, abstract in _INSTANTIATORS if owner == field)


def has_placeholder(abstract: str) -> bool:
    """Return whether an abstract value contains a placeholder; other values are literals."""
    return any(
        placeholder in abstract
        for placeholder in (DTYPE, STRUCTURE, "CONSTANT", RELATION, PARAMETER, ENUM, SHAPE)
    )


def _texts_of(*placeholders: str) -> Callable[[Sequence[Token]], list[str]]:
    """Return a function that returns the texts behind the placeholders of a sentence."""

    def texts(tokens: Sequence[Token]) -> list[str]:
        return [
            raw for token in tokens if token.text in placeholders for raw in token.replaced_texts
        ]

    return texts


def _word(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text if 0 <= index < len(tokens) else ""


def _tokens_with_neighbours(
    tokens: Sequence[Token], placeholder: str, is_accepted: Callable[[str, str], bool]
) -> list[Token]:
    """Return the tokens of a placeholder for which `is_accepted(previous word, next word)`."""
    return [
        token
        for index, token in enumerate(tokens)
        if token.text == placeholder
        and is_accepted(_word(tokens, index - 1), _word(tokens, index + 1))
    ]


def _ranks(tokens: Sequence[Token]) -> list[str]:
    """Return the numbers before words such as `dimensional`."""
    tokens_of_rank = _tokens_with_neighbours(tokens, NUMBER, lambda _, after: after in _RANK_AFTER)
    return [raw for token in tokens_of_rank for raw in token.replaced_texts if raw.isdecimal()]


def _min_ranks(tokens: Sequence[Token]) -> list[str]:
    """Return the first rank as a minimum, such as `>=2`."""
    ranks = _ranks(tokens) or [raw for raw in _texts_of(NUMBER)(tokens) if raw.isdecimal()]
    return [f">={rank}" for rank in ranks[:1]]


def _related_ranks(tokens: Sequence[Token]) -> list[str]:
    """Return the first relation, such as `>=2`, as a rank."""
    return [raw.replace(" ", "") for raw in _texts_of(RELATION)(tokens)][:1]


def _bracketed_shape(tokens: Sequence[Token]) -> list[str]:
    """Return the first bracket that follows a word such as `shape`, else the first of all."""
    brackets = _tokens_with_neighbours(tokens, SHAPE, lambda before, _: before in _SHAPE_BEFORE)
    brackets = brackets or [token for token in tokens if token.text == SHAPE]
    return [_normalised_shape(brackets[0].replaced_texts[0])] if brackets else []


def _normalised_shape(raw: str) -> str:
    return "[" + raw.strip("([{ }])").replace(" ", "") + "]"


def _lengths(tokens: Sequence[Token]) -> list[str]:
    """Return the first number next to a word such as `length` as a shape, such as `[3]`."""
    numbers = _tokens_with_neighbours(tokens, NUMBER, lambda before, _: before in _LENGTH_BEFORE)
    numbers = numbers or _tokens_with_neighbours(
        tokens, NUMBER, lambda _, after: after in _LENGTH_AFTER or after == STRUCTURE
    )
    return [f"[{raw}]" for token in numbers[:1] for raw in token.replaced_texts]


def _min_lengths(tokens: Sequence[Token]) -> list[str]:
    """Return the first relation as a shape, such as `[>=2]`."""
    return [f"[{raw.replace(' ', '')}]" for raw in _texts_of(RELATION)(tokens)][:1]


def _named_sizes(*placeholders: str) -> Callable[[Sequence[Token]], list[str]]:
    """Return a function that returns the first name behind the placeholders as a shape: `[n]`."""

    def sizes(tokens: Sequence[Token]) -> list[str]:
        return [f"[{raw}]" for raw in _texts_of(*placeholders)(tokens)][:1]

    return sizes


def _references(tokens: Sequence[Token]) -> list[str]:
    """Return a reference to the first parameter after a word such as `type`, else to the first."""
    after_type = False
    references: list[str] = []
    for token in tokens:
        after_type = after_type or token.text in _DTYPE_WORDS
        if token.text == PARAMETER and (after_type or not references):
            references = [f"&{token.replaced_texts[0]}"]
            if after_type:
                break
    return references


def _named_references(tokens: Sequence[Token]) -> list[str]:
    """Return a reference to the first quoted name, such as `&x`."""
    return [f"&{raw}" for raw in _texts_of(ENUM, CHOICE)(tokens) if _NAME.fullmatch(raw)][:1]


def _shape_references(tokens: Sequence[Token]) -> list[str]:
    """Return the parameter to which the sentence refers as a shape, such as `[x]`."""
    return [raw.replace("&", "[") + "]" for raw in _references(tokens)]


def _relations(tokens: Sequence[Token]) -> list[str]:
    """Return the first relation that is an interval, such as `[0,inf)`."""
    return [interval for raw in _texts_of(RELATION)(tokens) if (interval := _interval(raw))][:1]


def _interval(raw: str) -> str:
    """Return `[0,inf)` for `>= 0`, `[0,1)` for `0 <= x < 1`, and an empty string for `== 0`."""
    relation = _RELATION.match(raw.strip())
    if relation is None:
        return _closed_interval(raw)
    sign, bound = relation.group(1), relation.group(2).strip()
    template = _INTERVAL_BY_SIGN.get(sign)
    return template.format(bound) if template and bound else ""


_INTERVAL_BY_SIGN = {
    ">": "({},inf)", ">=": "[{},inf)", "=>": "[{},inf)", "≥": "[{},inf)",
    "<": "(-inf,{})", "<=": "(-inf,{}]", "=<": "(-inf,{}]", "≤": "(-inf,{}]",
}  # fmt: skip


def _closed_interval(raw: str) -> str:
    """Return `[0,1)` for `0 <= x < 1`; empty if the text does not have two limits."""
    numbers, signs = _NUMBER.findall(raw), _UPPER_SIGN.findall(raw)
    if len(numbers) < 2 or len(signs) < 2:  # noqa: PLR2004 - two ends
        return ""
    opening, closing = "(" if signs[0] == "<" else "[", ")" if signs[-1] == "<" else "]"
    return f"{opening}{numbers[0]},{numbers[-1]}{closing}"


def _interval_of_two_numbers(tokens: Sequence[Token]) -> list[str]:
    """Return the first two numbers as an interval, such as `[0,1]`."""
    numbers = [
        raw for token in tokens if token.text in {NUMBER, FLOAT} for raw in token.replaced_texts
    ]
    return [f"[{numbers[0]},{numbers[1]}]"] if len(numbers) > 1 else []


def _bracketed_intervals(tokens: Sequence[Token]) -> list[str]:
    """Return the first bracket that is an interval, such as `(0,inf)`."""
    for raw in _texts_of(SHAPE)(tokens):
        match = _INTERVAL.match(raw.strip())
        if match:
            opening, low, high, closing = match.groups()
            closing = ")" if high.lower() in _OPEN_ENDS else closing
            return [f"{opening}{low},{high}{closing}".replace(" ", "")]
    return []


def _structures_in_brackets(tokens: Sequence[Token]) -> list[str]:
    """Return the structures that words in brackets name."""
    words = [word for raw in _texts_of(SHAPE)(tokens) for word in _NAME.findall(raw)]
    return [name for word in words if (name := structure_name(word))]


_INSTANTIATORS: dict[tuple[str, str], Callable[[Sequence[Token]], list[str]]] = {
    ("dtype", DTYPE): _texts_of(DTYPE),
    ("dtype", "&PARAM"): _references,
    ("dtype", "&ENUM"): _named_references,
    ("structure", STRUCTURE): _texts_of(STRUCTURE),
    ("structure", SHAPE): _structures_in_brackets,
    ("ndim", NUMBER): _ranks,
    ("ndim", ">=CONSTANT_NUM"): _min_ranks,
    ("ndim", RELATION): _related_ranks,
    ("ndim", "&PARAM"): _references,
    ("shape", SHAPE): _bracketed_shape,
    ("shape", "[CONSTANT_NUM]"): _lengths,
    ("shape", "[REXPR]"): _min_lengths,
    ("shape", "[ENUM]"): _named_sizes(ENUM, CHOICE),
    ("shape", "[PARAM]"): _named_sizes(PARAMETER),
    ("shape", "&PARAM"): _shape_references,
    ("range", RELATION): _relations,
    ("range", NUMBER): _interval_of_two_numbers,
    ("range", SHAPE): _bracketed_intervals,
    ("enum", ENUM): _texts_of(ENUM, CHOICE),
    ("enum", NUMBER): _texts_of(NUMBER),
}
"""Functions that return the concrete values of each field and abstract value."""
