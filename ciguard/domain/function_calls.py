"""Cases of level `function`: calls of annotated functions of the user's programs.

A program is a Python file below the working folder of the run; each target imports it itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.case import CaseKind
from ciguard.domain.intent import Intent
from ciguard.domain.values import Json, Value, value_from_json

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_LINE = 2**31 - 1
"""Maximum line number that GitHub accepts."""
ANNOTATED = "annotated"
"""Second member of an encoded `FunctionCase`, where an API call has its kind."""
_MAX_PATH_LENGTH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCase:
    """One call of one annotated function."""

    api: str
    """`path/to/module.py:qualified.name`; for an import, only the path."""
    file: str
    """Path of the program relative to the working folder of the run, with forward slashes."""
    call: Json = field(default=None, hash=False)
    """JSON form of `ciguard.functions.specs.Call`; None for an import without a call."""
    seed: int = 0
    """Seed of the library's random generators, set before the call."""
    about: Json = field(default=None, hash=False)
    """Description of the program and of the functions involved, as returned by `describe`. Only
    reproducers and minimisation read it; targets describe the program again."""

    relation: ClassVar[str] = ""
    """Always empty: metamorphic relations do not apply to the user's functions."""
    intent: ClassVar[Intent] = Intent.CONFORMING
    """Always CONFORMING: calls conform to the annotations."""
    focus: ClassVar[str] = ""
    """Always empty: no argument is invalid or on a boundary."""
    level: ClassVar[str] = "function"
    given: ClassVar[str] = "arguments"
    is_api_use: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = True
    is_run_by_worker: ClassVar[bool] = True
    has_verdict_alone: ClassVar[bool] = True

    @property
    def noun(self) -> str:
        """Word for one execution in reports: `call` or `import`."""
        return "call" if self.call else "import"

    @property
    def apis(self) -> tuple[str, ...]:
        """The called function, or the imported program."""
        return (self.api,)

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the function's definition; line 1 if it is unknown."""
        program = self.about if isinstance(self.about, dict) else {}
        functions = program.get("functions")
        for function in functions if isinstance(functions, list) else ():
            if isinstance(function, dict) and function.get("name") == self.function:
                line = function.get("line")
                if isinstance(line, int) and 0 < line < _MAX_LINE:
                    return self.file, line
        return self.file, 1

    @property
    def function(self) -> str:
        """Name of the function within its module; empty for an import."""
        return str(self.call["function"]) if self.call else ""

    @property
    def values(self) -> tuple[Value, ...]:
        """All values passed to the call, including the arguments of the object's constructor."""
        return tuple(_values(self.call)) if self.call else ()

    def lowered(self) -> FunctionCase:
        """Return the case itself: workers run it unchanged."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form of the case: `[api, "annotated", {…}]`."""
        rest: dict[str, Json] = {"file": self.file}
        if self.call:
            rest["call"] = self.call
        if self.seed:
            rest["seed"] = self.seed
        if self.about:
            rest["about"] = self.about
        return [self.api, ANNOTATED, rest]


def function_api(file: str, function: str = "") -> str:
    """Return `FILE:FUNCTION`, or only `FILE` if the function's name is empty."""
    return f"{file}:{function}" if function else file


def _values(call: Json) -> Iterator[Value]:
    return (value_from_json(value) for _, value in _arguments(call))


def _arguments(call: Json) -> Iterator[tuple[str, Json]]:
    """Yield name and value of each argument of function, constructor and enclosing function."""
    yield from (*call["arguments"], *(call.get("constructor") or ()))
    if call.get("outer"):
        yield from _arguments(call["outer"])


@dataclass(frozen=True, slots=True)
class LocatedFailure:
    """Message and location of a failure in the user's code."""

    message: str
    """The message without the location, which workers put in front of it."""
    file: str = ""
    """Path in the form of `FunctionCase.file`; empty if unknown."""
    line: int = 0
    """Line in the file, from 1; 0 if unknown."""


def locate_failure(message: str) -> LocatedFailure:
    """Split the message of a failure into location, such as `src/model.py:23: `, and text."""
    match = _LOCATION.match(message)
    if match is None or not is_program(match["file"]):
        return LocatedFailure(message)
    return LocatedFailure(message[match.end() :], match["file"], int(match["line"]))


_LOCATION = re.compile(r"(?P<file>[^\n:]{1,1000}\.py):(?P<line>[1-9]\d{0,8}): ?")


def is_program(path: str) -> bool:
    """Return whether a path is relative, names a Python file and has no `..` in it."""
    pure = PurePosixPath(path)
    return (
        path.endswith(".py")
        and len(path) <= _MAX_PATH_LENGTH
        and path.isprintable()
        and not pure.is_absolute()
        and ".." not in pure.parts
    )


def function_case_from_json(encoded: Json) -> FunctionCase:
    """Rebuild a case.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case of this level.
    """
    try:
        _, _, rest = encoded
        file, call = str(rest["file"]), rest.get("call")
        if not is_program(file):
            msg = f"{file!r} is not the path of a program"
            raise ValueError(msg)  # noqa: TRY301 - the handler below adds the kind of case
        name = str(call["function"]) if call else ""
        case = FunctionCase(
            api=function_api(file, name),
            file=file,
            call=call,
            seed=int(rest.get("seed", 0)),
            about=rest.get("about"),
        )
        _ = case.values  # raises a ValueError if a value is malformed
        if call and not all(argument.isidentifier() for argument, _ in _arguments(call)):
            msg = "the name of an argument is not a Python identifier"
            raise ValueError(msg)  # noqa: TRY301 - as above
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"malformed function case: {error!r}"
        raise ValueError(msg) from error
    return case


FUNCTION_KIND = CaseKind(read=function_case_from_json, is_program=True)
