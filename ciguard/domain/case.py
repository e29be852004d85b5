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

    Each level has its own class, registered as a `CaseKind`. Code outside the level uses only the
    attributes below, so that it does not depend on the level.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def level(self) -> str:
        """Name of the level that the case belongs to."""

    @property
    def api(self) -> str:
        """The API under test: its qualified name, or `FILE:FUNCTION` of the user's code."""

    @property
    def seed(self) -> int:
        """Seed of the library's random generators, set before the run."""

    @property
    def intent(self) -> Intent:
        """Kind of input that the generator intended: conforming, violating or another kind."""

    @property
    def focus(self) -> str:
        """Name of the parameter with an invalid or boundary value; empty if there is none."""

    @property
    def relation(self) -> str:
        """Name of the metamorphic relation that the oracle checks; empty if there is none."""

    @property
    def values(self) -> tuple[Value, ...]:
        """All values that are passed to the code under test."""

    @property
    def noun(self) -> str:
        """Word for one execution of the case in reports: `call`, `run` or `program`."""

    @property
    def given(self) -> str:
        """Word for the inputs of the case in reports: `arguments` or `inputs`."""

    @property
    def apis(self) -> Collection[str]:
        """Qualified names of the APIs that an execution of the case calls."""

    @property
    def is_api_use(self) -> bool:
        """True if a target can run the case only if its catalogue has the API."""

    @property
    def is_user_code(self) -> bool:
        """True if the code under test is the user's, located in the user's files."""

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the user's code under test; `("", 0)` if the code is a library's."""

    @property
    def is_run_by_worker(self) -> bool:
        """True if workers can run the case any number of times, also with another seed."""

    @property
    def has_verdict_alone(self) -> bool:
        """True if an outcome can show a defect even though all targets have the same outcome."""

    def lowered(self) -> Case:
        """Return the case itself, or its translation into a kind of case that workers can run."""

    def to_json(self) -> Json:
        """Return the JSON form: a list of the API, the tag of the case's kind, and further data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKind:
    """One kind of case. Its name in the registry is the tag in the JSON form of its cases."""

    read: Callable[[Json], Case]
    """Function that rebuilds a case from JSON; it raises a ValueError if the JSON is malformed."""
    is_program: bool = False
    """True if an execution imports or runs a program. The timeout of programs then applies."""


@dataclass(frozen=True, slots=True)
class OpaqueCase:
    """A stored case whose kind is not installed here. It is stored again unchanged, never run."""

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
        """Tag of the case's kind, because its level is unknown."""
        return self.kind

    @property
    def apis(self) -> tuple[str, ...]:
        """The API under test."""
        return (self.api,)

    def lowered(self) -> OpaqueCase:
        """Return the case itself, which workers cannot run."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form as it was stored."""
        return json.loads(self.encoded)


_MAX_TAG_LENGTH = 40
_TAG = re.compile(r"[a-z-]{1,40}")
_HEAD = re.compile(rb'\["(?:[^"\\]|\\.)*", ?"([a-z-]{1,40})"')
"""The first two members of an encoded case: the API and the tag of the case's kind."""

CASE_KINDS: Registry[CaseKind] = Registry(
    "kind of case",
    group="ciguard.cases",
    accepts=lambda item: isinstance(item, CaseKind),
    built_in={
        "function": "ciguard.domain.api_calls:CALL_KIND",
        "layer": "ciguard.domain.api_calls:CALL_KIND",
        "method": "ciguard.domain.api_calls:CALL_KIND",
        "model": "ciguard.domain.models:MODEL_KIND",
        "graph": "ciguard.domain.graphs:GRAPH_KIND",
        "program": "ciguard.domain.programs:PROGRAM_KIND",
        "annotated": "ciguard.domain.function_calls:FUNCTION_KIND",
        "application": "ciguard.domain.app_runs:APPLICATION_KIND",
    },
)
"""Registry of the kinds of cases, by the tag in their JSON form."""


def case_to_json(case: Case) -> Json:
    """Return the JSON form of a case: a list, which is short because every execution sends it."""
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
    """Return whether an encoded case runs or imports a program. Only its beginning is decoded."""
    head = _HEAD.match(encoded)
    return head is not None and _is_program(head[1].decode())


@cache
def _is_program(tag: str) -> bool:
    """Return whether cases with a tag are programs; False for an unknown tag."""
    try:
        return CASE_KINDS.get(tag).is_program
    except UnknownNameError:
        return False


def as_kind(case: Case, kind: type[C]) -> C:
    """Return `case` with the static type `kind`.

    Raises:
        TypeError: if the case is of another kind.
    """
    if not isinstance(case, kind):
        msg = f"expected a {kind.__name__}, got a case of level {case.level}"
        raise TypeError(msg)
    return case


def case_id(case: Case) -> str:
    """Return an identifier of the case: 16 hex digits of the SHA-256 of its JSON form."""
    canonical = json.dumps(case_to_json(case), separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
