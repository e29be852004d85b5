"""Cases of level `app`: what is wrong with an application that asks cognitive services.

An application is a folder below the one that the run was started in. What is found by calling a
function with made answers holds all that it takes to call it again; what is found by reading, or by
many inputs together, says which sub-condition it is about.
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
    """In what way an application is looked at."""

    ANSWER = "answer"
    """One call, with answers made for it."""
    CONDITION = "condition"
    """A sub-condition, by reading."""
    INPUTS = "inputs"
    """A sub-condition, by many inputs that people would recognise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppCase:
    """One thing that was tried with one function of an application."""

    api: str
    """`path/to/file.py:qualified.name`."""
    file: str
    """Where the function is, or the sub-condition: relative to the folder of the run."""
    line: int = field(default=1, compare=False)
    """There."""
    root: str
    """The application's folder, relative likewise."""
    aspect: Aspect
    condition: str = ""
    """The sub-condition as written, and the condition that it is in, where it is about one."""
    call: Json = field(default=None, hash=False)
    """How the function is called: module, name, arguments, files, and what services answer."""

    seed: ClassVar[int] = 0
    relation: ClassVar[str] = ""
    """No metamorphic relation is tried with an application."""
    intent: ClassVar[Intent] = Intent.CONFORMING
    """Answers are as services may give them."""
    focus: ClassVar[str] = ""
    """No argument is odd."""
    values: ClassVar[tuple[Value, ...]] = ()
    """Answers are the service's JSON, and no values of a library."""
    level: ClassVar[str] = "app"
    given: ClassVar[str] = "inputs"
    is_api_use: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = True
    is_run_by_worker: ClassVar[bool] = False
    has_verdict_alone: ClassVar[bool] = False

    @property
    def noun(self) -> str:
        """What is tried: a call, or a condition that is read."""
        return "call" if self.aspect is Aspect.ANSWER else "condition"

    @property
    def apis(self) -> tuple[str, ...]:
        """The function."""
        return (self.api,)

    @property
    def place(self) -> tuple[str, int]:
        """Where the function or the sub-condition is."""
        return self.file, self.line

    @property
    def function(self) -> str:
        """Qualified name of the function, its module included."""
        return self.api.partition(":")[2]

    def lowered(self) -> AppCase:
        """Return the case: no worker runs it."""
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
        of, _, name = str(api).partition(":")
        _check(is_program(file), f"{file!r} is no program")
        _check(root == "." or is_program(f"{root}/x.py"), f"{root!r} is no folder below this one")
        _check(
            is_program(of) and bool(name) and len(name) <= _MAX_NAME_LENGTH and name.isprintable(),
            f"{api!r} is no function of a program",
        )
        _check(0 < line <= _LAST_LINE, f"{line} is no line")
        aspect, call = Aspect(rest["aspect"]), rest.get("call")
        _check((call is not None) is (aspect is Aspect.ANSWER), f"{aspect} with or without a call")
        return AppCase(
            api=str(api),
            file=file,
            line=line,
            root=root,
            aspect=aspect,
            condition=str(rest.get("condition", "")),
            call=None if call is None else _call_of(call, of, root, name),
        )
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"not an encoded case of an application: {error!r}"
        raise ValueError(msg) from error


APPLICATION_KIND = CaseKind(read=app_case_from_json)


def _call_of(call: Json, file: str, root: str, name: str) -> Json:
    """Return a call of a function that is in this file, below this folder."""
    checked = checked_call(call, name)
    within = PurePosixPath(file).relative_to(root).with_suffix("").as_posix()
    own = within.removesuffix("/__init__").replace("/", ".")
    _check(checked["module"] == own, "its call is another file's")
    return checked


def _check(holds: bool, reason: str) -> None:  # noqa: FBT001 - what is checked
    if not holds:
        raise ValueError(reason)
