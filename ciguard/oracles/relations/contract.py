"""What a metamorphic relation is, and the registry of all.

A relation names another computation, the twin, that must come to the same as the call: the same
call in twice the precision, by another entry point, on memory laid out differently. Both run in
one worker, one after the other, so a relation needs no second target.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.case import case_to_json
from ciguard.domain.findings import Severity
from ciguard.domain.records import ApiRecord
from ciguard.domain.values import Value, value_to_json
from ciguard.execution import Container, Output, Scalar, TensorDigest, TensorOutput
from ciguard.oracles.comparing.comparison import Difference, compare_outputs
from ciguard.registry import Registry

if TYPE_CHECKING:
    from ciguard.domain.case import Case
    from ciguard.domain.values import Json
    from ciguard.oracles.comparing.tolerance import InputPrecision


class Observes(StrEnum):
    """What of the call is held against the twin."""

    RESULT = "result"
    ARGUMENTS = "arguments"
    """The arguments as they are after the call."""


class Compares(StrEnum):
    """What must be equal between the two, for the script that shows the defect."""

    VALUES = "values"
    """Types, shapes and elements."""
    NUMBERS = "numbers"
    """Shapes and elements, whatever their type."""
    EMPTY_SHAPES = "empty shapes"
    """Types, and shapes but for the first dimension, which is 0 in the twin."""
    NOTHING = "nothing"
    """The twin is a check of its own: it raises when it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedPair:
    """A call and its twin, as one worker saw them."""

    first: Output
    """The result of the call, or its arguments, as the relation says."""
    twin: Output | None
    """What the twin came to; None if it raised."""
    raised: str = ""
    """Class of the exception that the twin raised."""
    message: str = ""
    inputs: InputPrecision
    """How exact the result can be."""


Applies: TypeAlias = Callable[[ApiRecord, Collection[str]], bool]
"""Whether the relation holds for an API, given the names of all APIs of the library."""
Twin: TypeAlias = Callable[[ApiCall], Value | None]
"""The other computation, from the call alone; None where the relation says nothing of it."""
Broken: TypeAlias = Callable[[ObservedPair], Difference | None]


def same(observed: ObservedPair) -> Difference | None:
    """Return how result and twin differ; a twin that raised says nothing."""
    if observed.twin is None:
        return None
    return compare_outputs(observed.first, observed.twin, observed.inputs)


def is_finite(output: Output) -> bool:
    """Whether no element that was read is NaN or infinite."""
    match output:
        case TensorOutput(elements=elements) if elements.dtype.kind in "fc":
            return bool(np.isfinite(elements).all())
        case TensorDigest(nan=nan, inf=inf):
            return not nan and not inf
        case Container(items=items):
            return all(map(is_finite, items))
        case _:
            return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One law about a library's calls."""

    name: str
    law: str
    """A sentence that a maintainer agrees with."""
    source: str
    """Where the law comes from: documentation, or a paper."""
    applies: Applies
    twin: Twin
    observes: Observes = Observes.RESULT
    broken: Broken = same
    compares: Compares = Compares.VALUES
    raises: str = ""
    """Class of the exception by which a twin that is a check of its own says that it failed."""
    part: int | None = None
    """The item of the twin that the result equals; the others say how exact it can be."""
    every: int = 1
    """Tried in one of so many turns: twins that compile cost a thousand ordinary calls."""
    weight: int = 1
    """Of the relations that say something of a call, this one is chosen so many times as often:
    few calls are fit for it."""
    needs_smoothness: bool = False
    """The law fails where a function has a kink: a defect shows beside the point, too."""
    severity: Severity = Severity.HIGH


RELATIONS: Registry[Relation] = Registry(
    "relation", group="ciguard.relations", accepts=lambda item: isinstance(item, Relation)
)


def relate(relation: Relation) -> Relation:
    """Register a relation and return it."""
    return RELATIONS.register(relation.name, relation)


@dataclass(frozen=True, slots=True)
class Exemption:
    """APIs of which a relation does not hold, for a documented reason."""

    apis: tuple[str, ...]
    """Globs of qualified names."""
    relation: str
    """Glob of relation names."""
    reason: str


@cache
def exemptions() -> tuple[Exemption, ...]:
    """Return the exemptions that come with ciguard."""
    text = (files(__package__) / "exemptions.toml").read_text("utf-8")
    return tuple(
        Exemption(**{**entry, "apis": tuple(entry["apis"])})
        for entry in tomllib.loads(text)["exemption"]
    )


def exemption_of(api: str, relation: str) -> Exemption | None:
    """Return the exemption of an API from a relation, if there is one."""
    return next(
        (
            one
            for one in exemptions()
            if fnmatchcase(relation, one.relation)
            and any(fnmatchcase(api, glob) for glob in one.apis)
        ),
        None,
    )


def relations_of(record: ApiRecord, names: Collection[str]) -> tuple[Relation, ...]:
    """Return the relations that hold for an API, by name.

    Args:
        record: what the library says of the API.
        names: every API of the library.
    """
    return tuple(
        relation
        for name, relation in sorted(RELATIONS.items().items())
        if exemption_of(record.api, name) is None and relation.applies(record, names)
    )


def is_whole(case: Case) -> bool:
    """Whether the case is a call alone, or its relation is installed and says something of it.

    A relation may come from a package, and a later version may say nothing of the call any more.
    """
    if not case.relation or not isinstance(case, ApiCall):
        return True
    relation = RELATIONS.items().get(case.relation)
    return relation is not None and relation.twin(case) is not None


def encode(case: Case) -> bytes:
    """Return a case as the worker reads it: with its twin, if it is tried with a relation.

    A stored case may name a relation of a package that is not installed: the call runs alone then.
    """
    case = case.lowered()
    encoded: list[Json] = case_to_json(case)
    if not case.relation or not isinstance(case, ApiCall):
        return _COMPACT.encode(encoded).encode("ascii")
    relation = RELATIONS.items().get(case.relation)
    twin = relation.twin(case) if relation is not None else None
    if relation is not None and twin is not None:
        encoded += [relation.observes.value, value_to_json(twin)]
    return _COMPACT.encode(encoded).encode("ascii")


_COMPACT = json.JSONEncoder(separators=(",", ":"))


def observed_in(output: Output, inputs: InputPrecision) -> ObservedPair | None:
    """Return call and twin from the output of a case; None if the case ran without its twin."""
    match output:
        case Container(items=(first, Container(items=(Scalar("s", "returned"), twin)))):
            return ObservedPair(first=first, twin=twin, inputs=inputs)
        case Container(
            items=(first, Container(items=(Scalar("s", "raised"), Scalar("s", name), said)))
        ):
            message = said.text if isinstance(said, Scalar) else ""
            return ObservedPair(first=first, twin=None, raised=name, message=message, inputs=inputs)
        case _:
            return None
