"""Recognises exceptions that may be caused by arguments guessed from a parameter's name.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import re
from typing import Any, Iterator, Set

Json = Any
_GUESSED_FORMS = frozenset({"guess", "made_up"})
_REQUEST_TYPES = (
    "str",
    "Request",
    "WSGIRequest",
    "SessionStore",
    "CookieStorage",
    "NotAll",
    "_User",
)
"""Types of the parts of requests that are made here."""
_MESSAGES_ABOUT_TEXTS = re.compile(
    r"string indices must be|unpack|invalid literal for int|could not convert string|not callable"
)


def guesses(argument: Json) -> Iterator[str]:
    """Yield the type name of each guessed value in a form, a value or a list of them.

    Args:
        argument: form of an argument, or a part of one.
    """
    if isinstance(argument, list):
        for item in argument:
            yield from guesses(item)
    elif isinstance(argument, dict):
        for form, value in argument.items():
            if form in _GUESSED_FORMS:
                yield type(value).__name__
            elif form == "request":
                yield from _REQUEST_TYPES
            yield from guesses(value)


def may_come_from_guess(error: BaseException, guessed: Set[str]) -> bool:
    """Return whether a wrong guess may be the cause of an exception.

    Args:
        error: the exception of the application.
        guessed: the type names of the guessed arguments.
    """
    if not guessed or not isinstance(error, (AttributeError, TypeError, ValueError)):
        return False
    message = str(error)
    if any(f"'{name}'" in message for name in guessed):
        return True
    return "str" in guessed and bool(_MESSAGES_ABOUT_TEXTS.search(message))
