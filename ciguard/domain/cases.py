"""Cases: one test each, complete enough to be replayed anywhere. One kind per level.

Level `api` is the only kind so far; later levels add theirs to the `Case` union.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from ciguard.domain.values import Json, Value, value_from_json, value_to_json


class Intent(StrEnum):
    """What the generator meant a case to be. A claim about the input, not about the outcome."""

    CONFORMING = "conforming"
    """Every argument satisfies what is known of its parameter."""
    VIOLATING = "violating"
    """One argument breaks one known constraint."""
    BOUNDARY = "boundary"
    """One argument sits on the edge: zero, None, empty, the largest integer."""
    SPECIAL = "special"
    """Conforms, but for NaN or an infinity among the elements of one tensor."""


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


Case: TypeAlias = ApiCall


def case_to_json(case: Case) -> Json:
    """Return the JSON form of a case: a list, since it travels once per execution."""
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


def case_from_json(encoded: Json) -> Case:
    """Rebuild a case from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case.
    """
    try:
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
    except (TypeError, ValueError) as error:
        msg = f"not an encoded case: {error}"
        raise ValueError(msg) from error


def case_id(case: Case) -> str:
    """Return 16 hex digits that name the case by its content."""
    canonical = json.dumps(case_to_json(case), separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
