"""Normal forms of a parameter's documented type and default value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.keywords import dtype_name
from ciguard.knowledge.mining.normalise import (
    BOOL,
    DTYPE,
    FLOAT,
    MAX_BRACKET_LENGTH,
    NUMBER,
    NUMERAL,
    Token,
    normalise,
    number_token,
)

if TYPE_CHECKING:
    from collections.abc import Collection

DEFAULT = "DEFAULT"
"""First token of a default value's normal form."""
TYPE = "TYPE"
"""First token of a documented type's normal form."""
_NONE_TEXTS = {"None", "_Null", "Null", "null", "<object object>"}
_SEQUENCE = re.compile(r"[\[(].*[\])]$")


def normalise_default(text: str) -> tuple[Token, ...]:
    """Return the normal form of a default value, from its text in the signature."""
    bare_text = text.strip().strip("'\"")
    return (Token(DEFAULT), *_default_tokens(bare_text))


def _default_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a default value."""
    if text in _NONE_TEXTS:
        return (Token("none"),)
    if text in {"True", "False"}:
        return (Token(BOOL, (text,)),)
    if NUMERAL.fullmatch(text):
        return (number_token(text),)
    if _SEQUENCE.match(text):
        return (Token("sequence"), *_number_tokens(text))
    if dtype := dtype_name(text):
        return (Token(DTYPE, (dtype,)),)
    is_object = text.startswith("<") or "." in text or "(" in text
    return (Token("object") if is_object else Token("text", (text,)),)


def _number_tokens(text: str) -> tuple[Token, ...]:
    numbers = tuple(NUMERAL.findall(text[:MAX_BRACKET_LENGTH]))
    if not numbers:
        return ()
    are_integers = all(number.lstrip("+-").isdecimal() for number in numbers)
    return (Token(NUMBER if are_integers else FLOAT, numbers),)


def normalise_type(text: str, parameters: Collection[str] = ()) -> tuple[Token, ...]:
    """Return the normal form of a documented type: `int or tuple, optional`."""
    return (Token(TYPE), *normalise(text, parameters))
