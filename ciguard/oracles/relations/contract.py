"""The type of metamorphic relations, their registry, and the encoding of cases with twins.

A relation defines the twin of a call: another computation that must be equivalent. Examples are the
call in double precision, through another entry point, or with another memory layout. One worker
runs the call and its twin, so that a relation needs no second target.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase, translate
from functools import cache, lru_cache
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
    """The part of the call that is compared with the twin."""

    RESULT = "result"
    ARGUMENTS = "arguments"
    """The arguments as they are after the call."""


class Compares(StrEnum):
    """Properties in which call and twin must agree. Scripts compare these properties."""

    VALUES = "values"
    """Types, shapes and elements."""
    NUMBERS = "numbers"
    """Shapes and elements, whatever their type."""
    EMPTY_SHAPES = "empty shapes"
    """Types, and shapes except for the first dimension, which is 0 in the twin's result."""
    NOTHING = "nothing"
    """None: the twin itself checks the relation, and raises an exception if it is violated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedPair:
    """The results of a call and its twin on one target."""

    first: Output
    """Result of the call, or its arguments after the call, depending on `Relation.observes`."""
    twin: Output | None
    """Result of the twin; None if it raised an exception."""
    raised: str = ""
    """Class name of the exception that the twin raised; empty if it raised none."""
    message: str = ""
    """Message of that exception."""
    inputs: InputPrecision
    """Precision of the call's inputs."""


Applies: TypeAlias = Callable[[ApiRecord, Collection[str]], bool]
"""Function that returns whether the relation holds for an API. Its second argument holds the names
of all APIs of the library."""
Twin: TypeAlias = Callable[[ApiCall], Value | None]
"""Function that returns the twin of a call; None if the relation does not apply to the call."""
FindViolation: TypeAlias = Callable[[ObservedPair], Difference | None]
"""Function that returns how a pair violates the relation; None if the pair satisfies it."""


def compare_pair(observed: ObservedPair) -> Difference | None:
    """Return how call and twin differ; None if they agree or the twin raised an exception."""
    if observed.twin is None:
        return None
    return compare_outputs(observed.first, observed.twin, observed.inputs)


def is_finite(output: Output) -> bool:
    """Return whether no element of an output is NaN or infinite."""
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
    """One metamorphic relation of a library's calls."""

    name: str
    law: str
    """The relation as a sentence, with which a maintainer of the library would agree."""
    source: str
    """Documentation or paper that states the relation."""
    applies: Applies
    twin: Twin
    observes: Observes = Observes.RESULT
    find_violation: FindViolation = compare_pair
    compares: Compares = Compares.VALUES
    raises: str = ""
    """Class name of the exception that the twin raises if its own check fails; empty if the twin
    has no check."""
    part: int | None = None
    """Index of the item of the twin's result that must equal the call's result. The other items
    bound the error. None if the whole result must be equal."""
    every: int = 1
    """Period of use: with 3, every third round of cases uses the relation. A twin that compiles
    takes as long as a thousand ordinary calls."""
    weight: int = 1
    """Frequency relative to the other relations that apply to an API. It is high if the relation
    applies to few of the API's calls."""
    holds_for_special_elements: bool = False
    """True if the relation holds for NaN, infinities and the extreme values of a type, too: call
    and twin are the same computation."""
    needs_smoothness: bool = False
    """True if the relation fails at kinks of a function. A violation then counts only if nearby
    points show it too."""
    severity: Severity = Severity.HIGH
    """Severity of a violation."""


RELATIONS: Registry[Relation] = Registry(
    "relation", group="ciguard.relations", accepts=lambda item: isinstance(item, Relation)
)
"""Registry of metamorphic relations by name."""


def relate(relation: Relation) -> Relation:
    """Register a relation and return it."""
    return RELATIONS.register(relation.name, relation)


@dataclass(frozen=True, slots=True)
class Exemption:
    """APIs for which a relation need not hold, with the reason."""

    apis: tuple[str, ...]
    """Globs of the APIs' qualified names."""
    relation: str
    """Glob of the relations' names, or a name that an oracle defines."""
    reason: str
    """Reason, from the documentation, why the relation need not hold."""


@cache
def exemptions() -> tuple[Exemption, ...]:
    """Return the exemptions that ciguard ships."""
    text = (files(__package__) / "exemptions.toml").read_text("utf-8")
    return tuple(
        Exemption(**{**entry, "apis": tuple(entry["apis"])})
        for entry in tomllib.loads(text)["exemption"]
    )


@lru_cache(maxsize=1 << 16)
def exemption_of(api: str, relation: str) -> Exemption | None:
    """Return the exemption of an API from a relation; None if there is none."""
    return next((entry for matches, entry in _exemptions_of(relation) if matches(api)), None)


@cache
def _exemptions_of(relation: str) -> list[tuple[Callable[[str], object], Exemption]]:
    """Return the exemptions from a relation, each after a function that matches its APIs."""
    return [
        (re.compile("|".join(map(translate, exemption.apis))).match, exemption)
        for exemption in exemptions()
        if fnmatchcase(relation, exemption.relation)
    ]


def relations_of(record: ApiRecord, names: Collection[str]) -> tuple[Relation, ...]:
    """Return the relations that hold for an API, sorted by name.

    Args:
        record: the catalogue's record of the API.
        names: the names of all APIs of the library.
    """
    return tuple(
        relation
        for name, relation in sorted(RELATIONS.items().items())
        if relation.applies(record, names) and exemption_of(record.api, name) is None
    )


def is_slow(case: Case) -> bool:
    """Return whether a case has a relation that is used rarely, as its twin takes long.

    Raises:
        UnknownNameError: if its relation is not installed.
    """
    return bool(case.relation) and RELATIONS.get(case.relation).every > 1


def is_replayable(case: Case) -> bool:
    """Return whether a case has no relation, or has one that is installed and applies to it.

    A stored case may have a relation of a package that is not installed, or a relation that no
    longer applies to the call since a newer version.
    """
    if not case.relation or not isinstance(case, ApiCall):
        return True
    relation = RELATIONS.items().get(case.relation)
    return relation is not None and relation.twin(case) is not None


def encode(case: Case) -> bytes:
    """Return the encoded case for a worker, with its twin if the case has a relation.

    The twin is left out if the relation is not installed.
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


_COMPACT = json.JSONEncoder(separators=(",", ":"), check_circular=False)


def observed_in(output: Output, inputs: InputPrecision) -> ObservedPair | None:
    """Return the results of a case's call and of its twin call; None if the case has no twin.

    Args:
        output: the output of the case.
        inputs: the precision of the inputs.
    """
    match output:
        case Container(items=(first, Container(items=(Scalar("s", "returned"), twin)))):
            return ObservedPair(first=first, twin=twin, inputs=inputs)
        case Container(
            items=(first, Container(items=(Scalar("s", "raised"), Scalar("s", name), text)))
        ):
            message = text.text if isinstance(text, Scalar) else ""
            return ObservedPair(first=first, twin=None, raised=name, message=message, inputs=inputs)
        case _:
            return None
