"""What all cases have in common, whichever level they belong to, and their JSON forms."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from ciguard.domain.intent import Intent
from ciguard.errors import RegistrationError, UnknownNameError
from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from dataclasses import Field

    from ciguard.domain.values import Json, Value


C = TypeVar("C", bound="Case")


class Case(Protocol):
    """One test, complete enough to be replayed anywhere: a frozen dataclass.

    Each level has a class of its own, registered as a `CaseKind`. What other packages need to know
    of a case is asked here, so that none of them names a level.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def level(self) -> str:
        """The level that this kind of case belongs to."""

    @property
    def api(self) -> str:
        """What is tested: the qualified name of an API, or a function's place and name."""

    @property
    def seed(self) -> int:
        """The library's random generators are seeded with it before the run."""

    @property
    def intent(self) -> Intent:
        """Whether what is given keeps to what is known of the API."""

    @property
    def focus(self) -> str:
        """The parameter that violates or sits on the boundary; empty if there is none."""

    @property
    def relation(self) -> str:
        """Name of the metamorphic relation that the case is tried with; empty for none."""

    @property
    def values(self) -> tuple[Value, ...]:
        """Every value that is given from outside."""

    @property
    def noun(self) -> str:
        """What one run is called: `call`, `run`, `program`."""

    @property
    def given(self) -> str:
        """What a run is given: `arguments` or `inputs`."""

    @property
    def apis(self) -> Collection[str]:
        """What one run exercises, by qualified name."""

    @property
    def is_api_use(self) -> bool:
        """Whether a target needs the API in its catalogue to run the case."""

    @property
    def is_user_code(self) -> bool:
        """Whether what fails is code of the user's own, with a place in the user's files."""

    @property
    def place(self) -> tuple[str, int]:
        """File and line where code of the user's is defined; `("", 0)` of a library's."""

    @property
    def is_run_by_worker(self) -> bool:
        """Whether workers run the case: again, with other seeds, on other versions."""

    @property
    def has_verdict_alone(self) -> bool:
        """Whether an outcome may be a defect by itself, alike as it may be on every target."""

    def lowered(self) -> Case:
        """Return the case as workers run it: this one, or one of a kind that they know."""

    def to_json(self) -> Json:
        """Return the JSON form: a list of the API, the tag of the case's kind, and the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKind:
    """How cases of one kind are read. Its name in the registry is the tag in their JSON form."""

    read: Callable[[Json], Case]
    """Rebuilds a case; raises a ValueError if that is not the JSON form of one."""
    is_program: bool = False
    """Whether a run imports or executes a program, and is given the time of one."""


@dataclass(frozen=True, slots=True)
class OpaqueCase:
    """A stored case of a kind that is not installed here: kept as it is, and never run."""

    api: str
    kind: str
    """The tag of its kind."""
    encoded: str
    """Its JSON form as text."""

    seed: ClassVar[int] = 0
    intent: ClassVar[Intent] = Intent.CONFORMING
    focus: ClassVar[str] = ""
    relation: ClassVar[str] = ""
    values: ClassVar[tuple[Value, ...]] = ()
    noun: ClassVar[str] = "case"
    given: ClassVar[str] = "inputs"
    is_api_use: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = False
    place: ClassVar[tuple[str, int]] = ("", 0)
    is_run_by_worker: ClassVar[bool] = False
    has_verdict_alone: ClassVar[bool] = False

    @property
    def level(self) -> str:
        """The tag of its kind: the name of its level is not known."""
        return self.kind

    @property
    def apis(self) -> tuple[str, ...]:
        """What is tested."""
        return (self.api,)

    def lowered(self) -> OpaqueCase:
        """Return the case: there is nothing that workers could run."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form as it was read."""
        return json.loads(self.encoded)


_MAX_TAG = 40
_TAG = re.compile(r"[a-z-]{1,40}")
_BEGINNING = re.compile(rb'\["(?:[^"\\]|\\.)*", ?"([a-z-]{1,40})"')
"""Of an encoded case: the API, and the tag of its kind."""

CASE_KINDS: Registry[CaseKind] = Registry(
    "kind of case",
    group="ciguard.cases",
    accepts=lambda item: isinstance(item, CaseKind),
    built_in={
        "function": "ciguard.domain.api_calls:CALL_KIND",
        "layer": "ciguard.domain.api_calls:CALL_KIND",
        "method": "ciguard.domain.api_calls:CALL_KIND",
        "model": "ciguard.domain.models:MODEL_KIND",
        "program": "ciguard.domain.programs:PROGRAM_KIND",
        "annotated": "ciguard.domain.function_calls:FUNCTION_KIND",
        "application": "ciguard.domain.app_runs:APPLICATION_KIND",
    },
)
"""By the tag in a case's JSON form."""


def case_to_json(case: Case) -> Json:
    """Return the JSON form of a case: a list, since it travels once per execution."""
    return case.to_json()


def case_from_json(encoded: Json) -> Case:
    """Rebuild a case from its JSON form: an `OpaqueCase` if its kind is not installed here.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case.
    """
    try:
        return CASE_KINDS.get(str(encoded[1])[:_MAX_TAG]).read(encoded)
    except (UnknownNameError, RegistrationError) as error:
        api, tag = encoded[0], encoded[1]
        if not isinstance(api, str) or not isinstance(tag, str) or not _TAG.fullmatch(tag):
            msg = f"not an encoded case: {error}"
            raise ValueError(msg) from error
        return OpaqueCase(api, tag, json.dumps(encoded, separators=(",", ":")))
    except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"not an encoded case: {error}"
        raise ValueError(msg) from error


def holds_program(encoded: bytes) -> bool:
    """Return whether an encoded case runs a program, or imports one, without reading all of it."""
    begins = _BEGINNING.match(encoded)
    return begins is not None and _is_program(begins[1].decode())


@cache
def _is_program(tag: str) -> bool:
    try:
        return CASE_KINDS.get(tag).is_program
    except UnknownNameError:
        return False


def as_kind(case: Case, kind: type[C]) -> C:
    """Return a case as what it is.

    Raises:
        TypeError: if it is of another kind.
    """
    if not isinstance(case, kind):
        msg = f"a case of level {case.level} is no {kind.__name__}"
        raise TypeError(msg)
    return case


def case_id(case: Case) -> str:
    """Return 16 hex digits that name the case by its content."""
    canonical = json.dumps(case_to_json(case), separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
