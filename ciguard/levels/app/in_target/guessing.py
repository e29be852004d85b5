"""What fails because an argument was guessed: a parameter's name alone has spoken for it.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import re
from typing import Any, Iterator, Set

Json = Any
_GUESSED = frozenset({"guess", "made_up"})
_OF_TEXT = re.compile(
    r"string indices must be|unpack|invalid literal for int|could not convert string|not callable"
)


def guesses(given: Json) -> Iterator[str]:
    """Yield the names of the types of guesses in arguments, however deep."""
    if isinstance(given, list):
        for one in given:
            yield from guesses(one)
    elif isinstance(given, dict):
        for form, value in given.items():
            if form in _GUESSED:
                yield type(value).__name__
            elif form == "request":
                yield from ("str", "Request")
            yield from guesses(value)


def is_of_guess(error: BaseException, guessed: Set[str]) -> bool:
    """Return whether an exception may say only that a guess was wrong.

    Args:
        error: that the application raises.
        guessed: names of the types of what was guessed.
    """
    if not guessed or not isinstance(error, (AttributeError, TypeError, ValueError)):
        return False
    said = str(error)
    if any(f"'{name}'" in said for name in guessed):
        return True
    return "str" in guessed and bool(_OF_TEXT.search(said))
