"""Cases: one test each, complete enough to be replayed anywhere. One kind per level."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from ciguard.domain.app_runs import (
    APPLICATION,
    AppCase,
    app_case_from_json,
    app_case_to_json,
)
from ciguard.domain.function_calls import (
    ANNOTATED,
    FunctionCase,
    function_case_from_json,
    function_case_to_json,
)
from ciguard.domain.intent import Intent
from ciguard.domain.models import MODEL, ModelCase, model_case_from_json, model_case_to_json
from ciguard.domain.programs import (
    PROGRAM,
    ProgramCase,
    program_case_from_json,
    program_case_to_json,
)
from ciguard.domain.values import Json, Value, value_from_json, value_to_json


class CallKind(StrEnum):
    """How an API is called."""

    FUNCTION = "function"
    """`api(*arguments, **keywords)`."""
    LAYER = "layer"
    """`api(*arguments, **keywords)(*inputs)`: a class is built, then the object is called."""
    METHOD = "method"
    """`arguments[0].name(*arguments[1:], **keywords)`: a method of the library's tensor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One call of one library API."""

    api: str
    """Qualified public name, e.g. `torch.nn.functional.conv2d`."""
    kind: CallKind
    arguments: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    inputs: tuple[Value, ...] = ()
    """For a layer: what the built object is called with."""
    seed: int = 0
    """The library's random generators are seeded with it before the call."""
    intent: Intent = Intent.CONFORMING
    focus: str = ""
    """The parameter that violates or sits on the boundary."""
    relation: str = ""
    """Name of the metamorphic relation that the call is tried with; empty for a call alone."""

    @property
    def level(self) -> str:
        """The level that this kind of case belongs to."""
        return "api"

    @property
    def values(self) -> tuple[Value, ...]:
        """Every value that the call is given."""
        return (*self.arguments, *self.inputs, *(value for _, value in self.keywords))


Case: TypeAlias = ApiCall | ModelCase | ProgramCase | FunctionCase | AppCase


def as_call(case: Case) -> ApiCall:
    """Return a case of level `api` as what it is.

    Raises:
        TypeError: if it is of another level.
    """
    if not isinstance(case, ApiCall):
        msg = f"a case of level {case.level} is no call"
        raise TypeError(msg)
    return case


def case_to_json(case: Case) -> Json:
    """Return the JSON form of a case: a list, since it travels once per execution."""
    if isinstance(case, ModelCase):
        return model_case_to_json(case)
    if isinstance(case, ProgramCase):
        return program_case_to_json(case)
    if isinstance(case, FunctionCase):
        return function_case_to_json(case)
    if isinstance(case, AppCase):
        return app_case_to_json(case)
    encoded = [
        case.api,
        case.kind.value,
        [value_to_json(value) for value in case.arguments],
        [[key, value_to_json(value)] for key, value in case.keywords],
        [value_to_json(value) for value in case.inputs],
        case.seed,
        case.intent.value,
        case.focus,
    ]
    if case.relation:
        encoded.append(case.relation)
    return encoded


def holds_program(encoded: bytes) -> bool:
    """Return whether an encoded case runs a program, or imports one, without reading all of it."""
    return _OF_PROGRAM.match(encoded) is not None


_OF_PROGRAM = re.compile(
    rb'\["(?:[^"\\]|\\.)*", ?"(?:%s|%s)"' % (PROGRAM.encode(), ANNOTATED.encode())
)


def case_from_json(encoded: Json) -> Case:
    """Rebuild a case from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case.
    """
    try:
        if encoded[1] == MODEL:
            return model_case_from_json(encoded)
        if encoded[1] == PROGRAM:
            return program_case_from_json(encoded)
        if encoded[1] == ANNOTATED:
            return function_case_from_json(encoded)
        if encoded[1] == APPLICATION:
            return app_case_from_json(encoded)
        api, kind, arguments, keywords, inputs, seed, intent, focus, *relation = encoded
        (name,) = relation or ("",)
        return ApiCall(
            api=str(api),
            kind=CallKind(kind),
            arguments=tuple(value_from_json(value) for value in arguments),
            keywords=tuple((str(key), value_from_json(value)) for key, value in keywords),
            inputs=tuple(value_from_json(value) for value in inputs),
            seed=int(seed),
            intent=Intent(intent),
            focus=str(focus),
            relation=str(name),
        )
    except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"not an encoded case: {error}"
        raise ValueError(msg) from error


def case_id(case: Case) -> str:
    """Return 16 hex digits that name the case by its content."""
    canonical = json.dumps(case_to_json(case), separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
