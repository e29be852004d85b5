"""Cases of level `app`: tests of an application that calls cognitive services.

An application is a folder below the working folder of the run. A case that calls a function with
stub responses holds everything needed to repeat the call. A case of static analysis, or of many
inputs together, names the sub-condition that it concerns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.app_call import checked_call
from ciguard.domain.case import CaseKind
from ciguard.domain.function_calls import is_program
from ciguard.domain.intent import Intent

if TYPE_CHECKING:
    from ciguard.domain.values import Json, Value

APPLICATION = "application"
"""Second member of an encoded `AppCase`, where an API call has its kind."""
_MAX_NAME_LENGTH = 1_000
_LAST_LINE = 2**31 - 1


class Aspect(StrEnum):
    """How an application is tested."""

    ANSWER = "answer"
    """One call of a function with stub responses."""
    CONDITION = "condition"
    """Static analysis of a sub-condition."""
    INPUTS = "inputs"
    """A sub-condition under many inputs whose content people would recognise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppCase:
    """One test of one function of an application."""

    api: str
    """`path/to/file.py:qualified.name`."""
    file: str
    """File of the function or sub-condition, relative to the working folder of the run."""
    line: int = field(default=1, compare=False)
    """Line of the function or sub-condition in `file`, from 1."""
    root: str
    """The application's folder, relative to the working folder of the run."""
    aspect: Aspect
    condition: str = ""
    """Source text of the sub-condition and of the condition around it; empty for a plain call."""
    call: Json = field(default=None, hash=False)
    """The call: module, function, arguments, files, and stub responses of services."""

    seed: ClassVar[int] = 0
    relation: ClassVar[str] = ""
    """Applications are checked with no metamorphic relation."""
    intent: ClassVar[Intent] = Intent.CONFORMING
    """Stub responses are such as services may return."""
    focus: ClassVar[str] = ""
    """No argument is invalid or on a boundary."""
    values: ClassVar[tuple[Value, ...]] = ()
    """Stub responses are JSON of the service, not values of a library."""
    level: ClassVar[str] = "app"
    given: ClassVar[str] = "inputs"
    is_api_use: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = True
    is_run_by_worker: ClassVar[bool] = False
    has_verdict_alone: ClassVar[bool] = False

    @property
    def noun(self) -> str:
        """What the case tests: `call` or `condition`."""
        return "call" if self.aspect is Aspect.ANSWER else "condition"

    @property
    def apis(self) -> tuple[str, ...]:
        """The function under test."""
        return (self.api,)

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the function or the sub-condition."""
        return self.file, self.line

    @property
    def function(self) -> str:
        """Qualified name of the function, including its module."""
        return self.api.partition(":")[2]

    def lowered(self) -> AppCase:
        """Return the case itself: no worker runs it."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form of the case: `[api, "application", {…}]`."""
        rest: dict[str, Json] = {
            "file": self.file,
            "line": self.line,
            "root": self.root,
            "aspect": self.aspect.value,
        }
        if self.condition:
            rest["condition"] = self.condition
        if self.call:
            rest["call"] = self.call
        return [self.api, APPLICATION, rest]


def app_case_from_json(encoded: Json) -> AppCase:
    """Rebuild a case.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case of this level.
    """
    try:
        api, _, rest = encoded
        file, root, line = str(rest["file"]), str(rest["root"]), int(rest["line"])
        function_file, _, function = str(api).partition(":")
        _check(is_program(file), f"{file!r} is not the path of a program")
        _check(
            root == "." or is_program(f"{root}/x.py"),
            f"{root!r} is not a folder below the working folder",
        )
        _check(
            is_program(function_file)
            and bool(function)
            and len(function) <= _MAX_NAME_LENGTH
            and function.isprintable(),
            f"{api!r} is not FILE:FUNCTION",
        )
        _check(0 < line <= _LAST_LINE, f"{line} is not a line number")
        aspect, call = Aspect(rest["aspect"]), rest.get("call")
        _check(
            (call is not None) is (aspect is Aspect.ANSWER),
            f"aspect {aspect}: only aspect answer has a call",
        )
        return AppCase(
            api=str(api),
            file=file,
            line=line,
            root=root,
            aspect=aspect,
            condition=str(rest.get("condition", "")),
            call=None if call is None else _call_of(call, function_file, root, function),
        )
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"malformed case of an application: {error!r}"
        raise ValueError(msg) from error


APPLICATION_KIND = CaseKind(read=app_case_from_json)


def _call_of(call: Json, file: str, root: str, name: str) -> Json:
    """Return the validated call of function `name` in `file` of the application in `root`."""
    checked = checked_call(call, name)
    path = PurePosixPath(file).relative_to(root).with_suffix("").as_posix()
    module = path.removesuffix("/__init__").replace("/", ".")
    _check(checked["module"] == module, "the call is of another file")
    return checked


def _check(condition: bool, message: str) -> None:  # noqa: FBT001 - the condition to check
    if not condition:
        raise ValueError(message)
