"""The type of metamorphic relations, their registry, and the encoding of cases with twins.

A relation names another computation, the twin, that must be equivalent to the call. Examples are
the same call in twice the precision, by another entry point, or on memory with another layout. One
worker runs both in turn, so a relation needs no second target.
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
    """What must be equal between call and twin, for the script that shows the defect."""

    VALUES = "values"
    """Types, shapes and elements."""
    NUMBERS = "numbers"
    """Shapes and elements, whatever their type."""
    EMPTY_SHAPES = "empty shapes"
    """Types, and shapes except for the first dimension, which is 0 in the twin."""
    NOTHING = "nothing"
    """The twin is a check of its own: it raises when it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedPair:
    """A call and its twin, as one worker ran them."""

    first: Output
    """The result of the call, or its arguments, as the relation requires."""
    twin: Output | None
    """The result of the twin; None if it raised an exception."""
    raised: str = ""
    """Class name of the exception that the twin raised."""
    message: str = ""
    inputs: InputPrecision
    """Precision of the inputs."""


Applies: TypeAlias = Callable[[ApiRecord, Collection[str]], bool]
"""Returns whether the relation holds for an API, given the names of all APIs of the library."""
Twin: TypeAlias = Callable[[ApiCall], Value | None]
"""Returns the other computation for a call; None if the relation does not apply to the call."""
Broken: TypeAlias = Callable[[ObservedPair], Difference | None]
"""Returns how the pair breaks the relation; None if it does not."""


def same(observed: ObservedPair) -> Difference | None:
    """Return how result and twin differ; None if they agree or the twin raised an exception."""
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
    """The relation as a sentence that a maintainer agrees with."""
    source: str
    """Documentation or paper that states the relation."""
    applies: Applies
    twin: Twin
    observes: Observes = Observes.RESULT
    broken: Broken = same
    compares: Compares = Compares.VALUES
    raises: str = ""
    """Class of the exception that a twin raises if its own check fails."""
    part: int | None = None
    """Index of the twin's item that the result equals; the other items bound the error."""
    every: int = 1
    """Period of its use: 3 means one in three turns. Twins that compile cost a thousand ordinary
    calls."""
    weight: int = 1
    """Relative frequency among the relations that apply to a call; high if few calls are
    suitable."""
    needs_smoothness: bool = False
    """True if the relation fails at kinks, so that a defect must show beside the point too."""
    severity: Severity = Severity.HIGH


RELATIONS: Registry[Relation] = Registry(
    "relation", group="ciguard.relations", accepts=lambda item: isinstance(item, Relation)
)
"""Registry of metamorphic relations."""


def relate(relation: Relation) -> Relation:
    """Register a relation and return it."""
    return RELATIONS.register(relation.name, relation)


@dataclass(frozen=True, slots=True)
class Exemption:
    """APIs for which a relation does not hold, for a documented reason."""

    apis: tuple[str, ...]
    """Globs of qualified names."""
    relation: str
    """Glob of relation names."""
    reason: str


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
    """Return the relations that hold for an API, in the order of their names.

    Args:
        record: the catalogue's record of the API.
        names: the names of all APIs of the library.
    """
    return tuple(
        relation
        for name, relation in sorted(RELATIONS.items().items())
        if relation.applies(record, names) and exemption_of(record.api, name) is None
    )


def is_replayable(case: Case) -> bool:
    """Return whether a case has no relation, or one that is installed and applies to it.

    A relation may come from a package, and a later version may no longer apply to the call.
    """
    if not case.relation or not isinstance(case, ApiCall):
        return True
    relation = RELATIONS.items().get(case.relation)
    return relation is not None and relation.twin(case) is not None


def encode(case: Case) -> bytes:
    """Return a case as the worker reads it, with the twin if the case has a relation.

    If a stored case names a relation whose package is not installed, the call runs alone.
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
    """Return call and twin from the output of a case; None if the case ran without a twin."""
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
