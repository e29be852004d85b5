"""The protocol that cases of all levels implement, and the registry of their JSON forms."""

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
    """One test case, complete enough to be replayed on any machine: a frozen dataclass.

    Each level has its own class, registered as a `CaseKind`. Other packages use only the attributes
    below, so that none of them depends on a level.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def level(self) -> str:
        """The level that this kind of case belongs to."""

    @property
    def api(self) -> str:
        """The API under test: its qualified name, or `FILE:FUNCTION` of the user's code."""

    @property
    def seed(self) -> int:
        """Seed of the library's random generators, set before the run."""

    @property
    def intent(self) -> Intent:
        """Whether the arguments conform to the API's constraints or violate one on purpose."""

    @property
    def focus(self) -> str:
        """Name of the parameter with an invalid or boundary value; empty if there is none."""

    @property
    def relation(self) -> str:
        """Name of the metamorphic relation that the case is checked with; empty for none."""

    @property
    def values(self) -> tuple[Value, ...]:
        """All values that are passed from outside."""

    @property
    def noun(self) -> str:
        """Word for one execution in reports: `call`, `run`, `program`."""

    @property
    def given(self) -> str:
        """Word for the inputs in reports: `arguments` or `inputs`."""

    @property
    def apis(self) -> Collection[str]:
        """Qualified names of the APIs that one execution exercises."""

    @property
    def is_api_use(self) -> bool:
        """True if only targets whose catalogue has the API can run the case."""

    @property
    def is_user_code(self) -> bool:
        """True if the code under test is the user's, located in the user's files."""

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the user's code under test; `("", 0)` for code of a library."""

    @property
    def is_run_by_worker(self) -> bool:
        """True if workers can run the case, also repeatedly, with other seeds or versions."""

    @property
    def has_verdict_alone(self) -> bool:
        """True if an outcome can be a defect even where all targets agree."""

    def lowered(self) -> Case:
        """Return the case that workers run: this one, or a translation into a kind they know."""

    def to_json(self) -> Json:
        """Return the JSON form: a list of the API, the tag of the case's kind, and the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKind:
    """Reader of one kind of case. Its name in the registry is the tag in the JSON form."""

    read: Callable[[Json], Case]
    """Function that rebuilds a case; it raises a ValueError for malformed JSON."""
    is_program: bool = False
    """True if an execution imports or runs a program, and so has the timeout of programs."""


@dataclass(frozen=True, slots=True)
class OpaqueCase:
    """A stored case of a kind that is not installed here: kept unchanged and never run."""

    api: str
    kind: str
    """Tag of the case's kind."""
    encoded: str
    """JSON form of the case, as text."""

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
        """Tag of the case's kind, in place of the unknown level."""
        return self.kind

    @property
    def apis(self) -> tuple[str, ...]:
        """The API under test."""
        return (self.api,)

    def lowered(self) -> OpaqueCase:
        """Return the case itself: workers cannot run it."""
        return self

    def to_json(self) -> Json:
        """Return the stored JSON form."""
        return json.loads(self.encoded)


_MAX_TAG_LENGTH = 40
_TAG = re.compile(r"[a-z-]{1,40}")
_HEAD = re.compile(rb'\["(?:[^"\\]|\\.)*", ?"([a-z-]{1,40})"')
"""Matches the first two members of an encoded case: the API and the tag of its kind."""

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
"""Registry of the kinds of cases, by the tag in their JSON form."""


def case_to_json(case: Case) -> Json:
    """Return the JSON form of a case: a compact list, since it is sent with every execution."""
    return case.to_json()


def case_from_json(encoded: Json) -> Case:
    """Rebuild a case from its JSON form: an `OpaqueCase` if its kind is not installed here.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case.
    """
    try:
        return CASE_KINDS.get(str(encoded[1])[:_MAX_TAG_LENGTH]).read(encoded)
    except (UnknownNameError, RegistrationError) as error:
        api, tag = encoded[0], encoded[1]
        if not isinstance(api, str) or not isinstance(tag, str) or not _TAG.fullmatch(tag):
            msg = f"malformed case: {error}"
            raise ValueError(msg) from error
        return OpaqueCase(api, tag, json.dumps(encoded, separators=(",", ":")))
    except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"malformed case: {error}"
        raise ValueError(msg) from error


def holds_program(encoded: bytes) -> bool:
    """Return whether an encoded case runs or imports a program, by its first two members."""
    head = _HEAD.match(encoded)
    return head is not None and _is_program(head[1].decode())


@cache
def _is_program(tag: str) -> bool:
    try:
        return CASE_KINDS.get(tag).is_program
    except UnknownNameError:
        return False


def as_kind(case: Case, kind: type[C]) -> C:
    """Return `case` typed as `kind`.

    Raises:
        TypeError: if the case is of another kind.
    """
    if not isinstance(case, kind):
        msg = f"expected a {kind.__name__}, got a case of level {case.level}"
        raise TypeError(msg)
    return case


def case_id(case: Case) -> str:
    """Return an identifier of the case: 16 hex digits of the SHA-256 of its content."""
    canonical = json.dumps(case_to_json(case), separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
