"""Cases of level `function`: calls of annotated functions of the user's programs.

A program is a file below the folder that the run was started in; every target imports it anew.
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

_LAST_LINE = 2**31 - 1
"""GitHub takes no greater number."""
ANNOTATED = "annotated"
"""Second member of an encoded `FunctionCase`, where an API call has its kind."""
_MAX_PATH_LENGTH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCase:
    """One call of one annotated function."""

    api: str
    """`path/to/module.py:qualified.name`; the file alone where it is only imported."""
    file: str
    """The program: relative to the folder that the run was started in, with forward slashes."""
    call: Json = field(default=None, hash=False)
    """JSON form of `ciguard.functions.specs.Call`; None imports the program and calls nothing."""
    seed: int = 0
    """The library's random generators are seeded with it before the call."""
    about: Json = field(default=None, hash=False)
    """What is known of the program and of the functions that the call takes, as `describe` tells
    it: for scripts, and for who looks for simpler calls. Targets look for themselves."""

    relation: ClassVar[str] = ""
    """No metamorphic relation is tried with a function of the user's."""
    intent: ClassVar[Intent] = Intent.CONFORMING
    """Calls keep to the annotations."""
    focus: ClassVar[str] = ""
    """No argument is odd."""
    level: ClassVar[str] = "function"
    given: ClassVar[str] = "arguments"
    is_api_use: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = True
    is_run_by_worker: ClassVar[bool] = True
    has_verdict_alone: ClassVar[bool] = True

    @property
    def noun(self) -> str:
        """What one run is called: the import of a program, or a call."""
        return "call" if self.call else "import"

    @property
    def apis(self) -> tuple[str, ...]:
        """The function, or the program that is imported."""
        return (self.api,)

    @property
    def place(self) -> tuple[str, int]:
        """The file, and the line of the function's definition; 1 if that is not known."""
        about = self.about if isinstance(self.about, dict) else {}
        functions = about.get("functions")
        for described in functions if isinstance(functions, list) else ():
            if isinstance(described, dict) and described.get("name") == self.function:
                line = described.get("line")
                if isinstance(line, int) and 0 < line < _LAST_LINE:
                    return self.file, line
        return self.file, 1

    @property
    def function(self) -> str:
        """Name of the function within its module; empty for an import."""
        return str(self.call["function"]) if self.call else ""

    @property
    def values(self) -> tuple[Value, ...]:
        """Every value that the call is given, those of the constructor included."""
        return tuple(_values(self.call)) if self.call else ()

    def lowered(self) -> FunctionCase:
        """Return the case: workers run it as it is."""
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
    """Return the name by which reports call a function, or a program that is only imported."""
    return f"{file}:{function}" if function else file


def _values(call: Json) -> Iterator[Value]:
    return (value_from_json(value) for _, value in _arguments(call))


def _arguments(call: Json) -> Iterator[tuple[str, Json]]:
    """Yield name and value of every argument, those of the constructor and outside included."""
    yield from (*call["arguments"], *(call.get("constructor") or ()))
    if call.get("outer"):
        yield from _arguments(call["outer"])


@dataclass(frozen=True, slots=True)
class Seated:
    """What a program's failure said, and where: the worker puts the place before every message."""

    message: str
    """Without the place."""
    file: str = ""
    """As `FunctionCase.file`; empty where it is not known."""
    line: int = 0


def seated(message: str) -> Seated:
    """Part the message of a program's failure from its place, `src/model.py:23: …`."""
    match = _PLACE.match(message)
    if match is None or not is_program(match["file"]):
        return Seated(message)
    return Seated(message[match.end() :], match["file"], int(match["line"]))


_PLACE = re.compile(r"(?P<file>[^\n:]{1,1000}\.py):(?P<line>[1-9]\d{0,8}): ?")


def is_program(path: str) -> bool:
    """Return whether a path names a Python file below the folder that it is relative to."""
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
            msg = f"{file!r} is no program"
            raise ValueError(msg)  # noqa: TRY301 - one message for all that may be wrong
        name = str(call["function"]) if call else ""
        case = FunctionCase(
            api=function_api(file, name),
            file=file,
            call=call,
            seed=int(rest.get("seed", 0)),
            about=rest.get("about"),
        )
        _ = case.values  # all of them can be read
        if call and not all(argument.isidentifier() for argument, _ in _arguments(call)):
            msg = "an argument has no name"
            raise ValueError(msg)  # noqa: TRY301 - as above
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"not an encoded function case: {error!r}"
        raise ValueError(msg) from error
    return case


FUNCTION_KIND = CaseKind(read=function_case_from_json, is_program=True)
