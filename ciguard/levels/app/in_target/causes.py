"""Causes of an application's exceptions: its environment, or something else.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import os
import traceback

from ciguard.levels.app.in_target import hooks

_MAX_MESSAGE_LENGTH = 300
_ENVIRONMENT_FILES = ([os.__file__], ["<frozen os>"])
"""File names in the traceback of a `KeyError` of `os.environ`."""


def message_of(error: BaseException) -> str:
    """Return the shortened message of an exception, with a hook's advice if there is any."""
    try:
        message = str(error)[:_MAX_MESSAGE_LENGTH]
    except Exception:  # noqa: BLE001 - `__str__` of the application may raise anything
        return "its message cannot be read"
    advice = hooks.advice(message)
    return f"{message}. {advice}" if advice else message


def may_be_environmental(error: BaseException) -> bool:
    """Return whether a missing file, network or environment variable may cause an exception.

    The result is True for every exception that a library defines, as its meaning is unknown.
    """
    if type(error).__module__ != "builtins":  # this includes NotGivenError
        return True
    if isinstance(error, (OSError, ImportError, EOFError, SystemExit, KeyboardInterrupt)):
        return True
    last = [frame.filename for frame in traceback.extract_tb(error.__traceback__)[-1:]]
    return isinstance(error, KeyError) and last[:1] in _ENVIRONMENT_FILES
