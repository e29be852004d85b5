"""Causes of an application's exceptions: its environment, or something else.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import os
import traceback
from typing import Any, Callable, Set

from ciguard.levels.app.in_target import hooks
from ciguard.levels.app.in_target.guessing import may_come_from_guess

Json = Any

_MAX_MESSAGE_LENGTH = 300
_CONFINEMENT_NOTE = " (ciguard confines applications, see docs/levels/app.md)"
_ENVIRONMENT_FILES = ([os.__file__], ["<frozen os>"])
"""File names in the traceback of a `KeyError` of `os.environ`."""


def noted_message(error: BaseException, *, is_confined: bool) -> str:
    """Return the message of an exception, with a note if ciguard's confinement may cause it."""
    note = _CONFINEMENT_NOTE if isinstance(error, PermissionError) and is_confined else ""
    return f"{message_of(error)}{note}"


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


class ErrorRecords:
    """Descriptions of an application's exceptions."""

    def __init__(self, file_of: Callable[[str], str], *, is_confined: bool) -> None:
        """Create the descriptions.

        Args:
            file_of: returns the name of a file of the application; empty for any other file.
            is_confined: whether the application's process is confined.
        """
        self._file_of = file_of
        self._is_confined = is_confined

    def text(self, error: BaseException) -> str:
        """Return a text with type, message and line in the application of an exception."""
        if isinstance(error, ModuleNotFoundError) and not hooks.advice(str(error)):
            return f"{self._message(error)} in the interpreter of --python"
        own = [frame for frame in self._frames(error) if frame[0]]
        where = f" ({own[-1][0]}, line {own[-1][1]})" if own else ""
        return f"{type(error).__name__}: {self._message(error)}{where}"

    def record(self, error: BaseException, guessed: Set[str], *, is_excused: bool) -> Json:
        """Return a description of an exception as JSON, with its frames in the application.

        `own` is True if the application's code raised it; `lacks`, if a missing file or variable,
        or a wrong guess, may be the cause.

        Args:
            error: the exception.
            guessed: the type names of the guessed arguments.
            is_excused: whether something else than the application may be the cause.
        """
        frames = self._frames(error)
        return {
            "type": type(error).__name__,
            "message": self._message(error),
            "frames": [frame for frame in frames if frame[0]],
            "own": bool(frames and frames[-1][0]),
            "lacks": is_excused
            or may_be_environmental(error)
            or may_come_from_guess(error, guessed),
        }

    def _frames(self, error: BaseException) -> Json:
        return [
            [self._file_of(frame.filename), frame.lineno or 0, frame.name]
            for frame in traceback.extract_tb(error.__traceback__)
        ]

    def _message(self, error: BaseException) -> str:
        return noted_message(error, is_confined=self._is_confined)
