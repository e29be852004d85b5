"""Cases of level `app`: tests of an application that calls cognitive services.

An application is a folder below the working folder of the run. A case that calls a function with
stub responses holds all data needed to repeat the call. A case of static analysis, or of a set of
inputs, names the sub-condition that it tests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.app_call import validated_call
from ciguard.domain.case import CaseKind
from ciguard.domain.function_calls import is_program
from ciguard.domain.intent import Intent

if TYPE_CHECKING:
    from ciguard.domain.values import Json, Value

APPLICATION = "application"
"""Second member of an encoded `AppCase`, where an API call has its kind."""
_MAX_NAME_LENGTH = 1_000
_MAX_LINE = 2**31 - 1


class Aspect(StrEnum):
    """Way to test an application."""

    ANSWER = "answer"
    """One call of a function with stub responses."""
    CONDITION = "condition"
    """Static analysis of a sub-condition."""
    INPUTS = "inputs"
    """Evaluation of a sub-condition for many inputs whose content a person would recognise."""


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
    """Source text of the sub-condition and its whole condition; empty for aspect `answer`."""
    call: Json = field(default=None, hash=False)
    """Module, function, arguments, files, and stub responses; None for other aspects than
    `answer`."""

    seed: ClassVar[int] = 0
    relation: ClassVar[str] = ""
    """Always empty: metamorphic relations do not apply to applications."""
    intent: ClassVar[Intent] = Intent.CONFORMING
    """Always CONFORMING: a service may return each of the stub responses."""
    focus: ClassVar[str] = ""
    """Always empty: no argument is invalid or on a boundary."""
    values: ClassVar[tuple[Value, ...]] = ()
    """Always empty: stub responses are JSON of a service, not values of a library."""
    level: ClassVar[str] = "app"
    given: ClassVar[str] = "inputs"
    is_api_use: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = True
    is_run_by_worker: ClassVar[bool] = False
    has_verdict_alone: ClassVar[bool] = False

    @property
    def noun(self) -> str:
        """Word for the subject of the test in reports: `call` or `condition`."""
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
            f"{api!r} is not of the form FILE:FUNCTION",
        )
        _check(0 < line <= _MAX_LINE, f"{line} is not a valid line number")
        aspect, call = Aspect(rest["aspect"]), rest.get("call")
        _check(
            (call is not None) is (aspect is Aspect.ANSWER),
            f"aspect {aspect}: a case has a call if and only if its aspect is 'answer'",
        )
        return AppCase(
            api=str(api),
            file=file,
            line=line,
            root=root,
            aspect=aspect,
            condition=str(rest.get("condition", "")),
            call=None if call is None else _call_of_file(call, function_file, root, function),
        )
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"malformed case of an application: {error!r}"
        raise ValueError(msg) from error


APPLICATION_KIND = CaseKind(read=app_case_from_json)


def _call_of_file(call: Json, file: str, root: str, name: str) -> Json:
    """Return the validated call of function `name` in `file` of the application in `root`."""
    validated = validated_call(call, name)
    path = PurePosixPath(file).relative_to(root).with_suffix("").as_posix()
    module = path.removesuffix("/__init__").replace("/", ".")
    _check(validated["module"] == module, f"the call is not to the module {module}")
    return validated


def _check(condition: bool, message: str) -> None:  # noqa: FBT001 - the condition to check
    if not condition:
        raise ValueError(message)
