"""Differences that Keras leaves to its backends, and how severe the others are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.findings import Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.oracles.between_devices import MISSING_KERNEL
from ciguard.oracles.comparing.inputs import has_large_integers
from ciguard.oracles.preconditions import meets_precondition
from ciguard.oracles.relations import exemption_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.contract import Identity

_INTERCHANGEABLE_DTYPES = (
    frozenset(dtypes.INTEGERS),
    frozenset({"float32", "float64"}),
    frozenset(dtypes.COMPLEX),
)
"""Sets of types that Keras's backends may exchange for each other. For example, PyTorch lacks most
unsigned types."""
_PLAIN_RESULTS = frozenset({"tensor", "None", "int", "float", "complex", "bool", "str", "bytes"})
"""Names, in the text of a structure difference, of results that are not containers or objects of a
backend's own class."""
_ELEMENT_KINDS = frozenset({"values", "nan"})
_REFUSALS = frozenset({"refused", "accepted"})
SHAPE_BETWEEN_BACKENDS = "shape between backends"
"""Name in exemptions: Keras leaves the shapes of the API's results to its backends."""
SPECIAL_ELEMENTS = "special elements"
"""Name in exemptions: the API's results for NaN and infinities may differ."""


def is_left_to_backends(
    difference: Difference,
    case: Case,
    outcomes: Mapping[str, Outcome],
    identities: Mapping[str, Identity],
) -> bool:
    """Return whether Keras allows its backends to differ in this way.

    What a boundary call returns is left to them. But if two backends accept a call, the one that
    refuses it lacks something, and the other way round.
    """
    if difference.kind in _ELEMENT_KINDS:
        is_exempt = exemption_of(case.api, "between backends") is not None
        return is_exempt and not meets_precondition(case)
    if difference.kind == "shape":
        return exemption_of(case.api, SHAPE_BETWEEN_BACKENDS) is not None
    if difference.kind not in _REFUSALS:
        return difference.kind == "exception"
    is_within_range = case.intent in {Intent.CONFORMING, Intent.SPECIAL}
    return not is_within_range and not _is_one_against_others(outcomes, identities)


def _is_one_against_others(
    outcomes: Mapping[str, Outcome], identities: Mapping[str, Identity]
) -> bool:
    """Return whether one backend refuses what at least two accept, or accepts what they refuse."""
    accepting, refusing = set[str](), set[str]()
    for name, outcome in outcomes.items():
        if isinstance(outcome, Passed):
            accepting.add(identities[name].engine)
        elif isinstance(outcome, Rejected) and outcome.stage is Stage.CALL:
            refusing.add(identities[name].engine)
    fewer, more = sorted((accepting - refusing, refusing - accepting), key=len)
    return len(fewer) == 1 and len(more) > 1


def severity_of_special_elements(case: Case) -> Severity:
    """Return the maximum severity of a difference between backends for unusual elements.

    Keras documents the results of few functions for them. NaN in an order is left to libraries, and
    so are integers that single precision cannot represent.
    """
    if case.intent is not Intent.SPECIAL:
        return Severity.CRITICAL
    is_open = exemption_of(case.api, SPECIAL_ELEMENTS) is not None or has_large_integers(case)
    return Severity.LOW if is_open else Severity.MEDIUM


def severity_between_backends(difference: Difference) -> Severity:
    """Return the maximum severity of a difference between two backends.

    A backend that has no kernel for a dtype says so, which needs no repair.
    """
    if difference.kind == "refused" and MISSING_KERNEL.search(difference.text):
        return Severity.INFO
    types = set(difference.detail.split(" vs "))
    are_interchangeable = difference.kind == "dtype" and any(
        types <= family for family in _INTERCHANGEABLE_DTYPES
    )
    is_unspecified = (
        are_interchangeable
        or difference.kind in {"refused", "nan"}
        or _returns_own_class(difference)
    )
    return Severity.LOW if is_unspecified else Severity.CRITICAL


def _returns_own_class(difference: Difference) -> bool:
    """Return whether a backend returns an object of its own class, such as a sparse tensor."""
    results = [] if difference.kind != "structure" else difference.text.split(" vs ")
    return any(" of " not in name and name not in _PLAIN_RESULTS for name in results)
