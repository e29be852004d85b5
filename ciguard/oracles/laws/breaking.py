"""Which laws the arguments of a call break, and where these laws are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.findings import Evidence
from ciguard.knowledge import ClueSource
from ciguard.oracles.laws.demands import breach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.values import Value
    from ciguard.oracles.laws.reading import Law

_WHERE = {
    ClueSource.OPDEF: "the operator's definition",
    ClueSource.ANNOTATION: "the signature",
}
_REPLACED = {"reduction": frozenset({"size_average", "reduce"})}
"""Arguments that others, given too, take the place of: torch's older names of one choice."""


def broken_laws(case: Case, laws: Sequence[Law]) -> list[tuple[Law, str]]:
    """Return the laws that a call breaks, each with the offending value in words."""
    return [(law, said) for law in laws if (said := _broken(law, case))]


def _broken(law: Law, case: Case) -> str:
    value = argument_of(case, law)
    return "" if value is None else breach(value, law.demand)


def argument_of(case: Case, law: Law) -> Value | None:
    """Return what a call gives a parameter; None if it leaves it out or replaces it."""
    if not isinstance(case, ApiCall):
        return None
    named = dict(case.keywords)
    if not _REPLACED.get(law.parameter, frozenset()).isdisjoint(named):
        return None
    if law.parameter in named:
        return named[law.parameter]
    if law.position is None or law.position >= len(case.arguments):
        return None
    return case.arguments[law.position]


def where_written(law: Law) -> str:
    """Return the kind of text that states a law."""
    return _WHERE.get(law.source, "the documentation")


def evidence_of(law: Law, *, expected: str, observed: str) -> Evidence:
    """Return the evidence that a law was broken."""
    return Evidence(
        expected=expected,
        observed=observed,
        law=f"{law.parameter!r} is {law.words}",
        source=f"{where_written(law)}: “{law.sentence}”",
    )
