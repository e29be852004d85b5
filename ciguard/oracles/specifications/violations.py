"""The specifications that a call's arguments violate, and the texts that state them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.findings import Evidence
from ciguard.knowledge import ClueSource
from ciguard.oracles.specifications.requirements import violation_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.values import Value
    from ciguard.oracles.specifications.reading import Specification

_SOURCES_IN_WORDS = {
    ClueSource.OPDEF: "the operator's definition",
    ClueSource.ANNOTATION: "the signature",
    ClueSource.NAME: "convention",
}
_SUPERSEDED_BY = {"reduction": frozenset({"size_average", "reduce"})}
"""Deprecated parameters that, if passed, make an argument ineffective, as in torch's losses."""


def violated_specifications(
    case: Case, specifications: Sequence[Specification]
) -> list[tuple[Specification, str]]:
    """Return each specification that a call violates, with text for the value that violates it."""
    return [
        (specification, value)
        for specification in specifications
        if (value := _offending_value(specification, case))
    ]


def _offending_value(specification: Specification, case: Case) -> str:
    """Return text for the value that violates a specification; empty if the call satisfies it."""
    value = argument_of(case, specification)
    return "" if value is None else violation_in_words(value, specification.requirement)


def argument_of(case: Case, specification: Specification) -> Value | None:
    """Return a call's value for the specification's parameter; None if it has no effect.

    A value has no effect if it is not passed, or if a deprecated parameter replaces it.
    """
    if not isinstance(case, ApiCall):
        return None
    keywords = dict(case.keywords)
    if not _SUPERSEDED_BY.get(specification.parameter, frozenset()).isdisjoint(keywords):
        return None
    if specification.parameter in keywords:
        return keywords[specification.parameter]
    if specification.position is None or specification.position >= len(case.arguments):
        return None
    return case.arguments[specification.position]


def source_in_words(specification: Specification) -> str:
    """Return the kind of text that states a specification, such as `the documentation`."""
    return _SOURCES_IN_WORDS.get(specification.source, "the documentation")


def evidence_of(specification: Specification, *, expected: str, observed: str) -> Evidence:
    """Return the evidence that a specification was violated."""
    return Evidence(
        expected=expected,
        observed=observed,
        law=f"{specification.parameter!r} is {specification.words}",
        source=f"{source_in_words(specification)}: “{specification.sentence}”",
    )
