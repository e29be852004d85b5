"""Repetitions of a candidate: their seeds, and which targets repeat their own outcomes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.findings import PairKind
from ciguard.oracles import judged_level_of, traits_of
from ciguard.oracles.comparing import NO_INPUTS
from ciguard.triage.fingerprint import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome

_ORDER = (
    frozenset({"refused", "accepted", "exception"}),
    frozenset({"structure"}),
    frozenset({"dtype"}),
    frozenset({"shape"}),
)
"""Kinds of difference in the order in which outcomes are compared, before those of elements."""


def with_own_seed(finding: Finding, repetition: int) -> Case:
    """Return the finding's case; if results are compared, with another seed for each repetition.

    Random results then differ between repetitions. With a fixed seed, two versions with different
    random generators would seem to differ reproducibly.
    """
    case = finding.case
    if not traits_of(finding.oracle).compares_results or not case.is_run_by_worker:
        return case
    return replace(case, seed=case.seed + repetition)


def changed_targets(
    finding: Finding, repetitions: Sequence[Mapping[str, Outcome]], outcomes: Mapping[str, Outcome]
) -> set[str]:
    """Return the targets whose outcome differs from that of the first repetition.

    Only kinds of difference up to the finding's own count. For example, random elements do not
    refute a difference of dtypes.

    Args:
        finding: the finding that is repeated.
        repetitions: outcomes by target of the earlier repetitions.
        outcomes: outcomes by target of this repetition.
    """
    if not repetitions:
        return set()
    level, first = judged_level_of(finding.case), repetitions[0]
    differences = {
        name: level.compare(finding.case, first[name], outcome, NO_INPUTS)
        for name, outcome in outcomes.items()
    }
    decisive = _decisive_kinds(finding.kind)
    return {
        name
        for name, difference in differences.items()
        if difference is not None and (not decisive or difference.kind in decisive)
    }


def _decisive_kinds(kind: str) -> frozenset[str]:
    """Return the differences between repetitions that refute a kind of finding; none for all."""
    for index, kinds in enumerate(_ORDER):
        if kind in kinds:
            return frozenset[str]().union(*_ORDER[: index + 1])
    return frozenset()


def is_random(
    finding: Finding,
    repetitions: Sequence[Mapping[str, Outcome]],
    outcomes: Mapping[str, Outcome],
    *,
    draws: bool = False,
) -> bool:
    """Return whether the outcomes of a difference change on every target, so by chance.

    The first arguments are those of `changed_targets`.

    Args:
        finding: the finding that is repeated.
        repetitions: outcomes by target of the earlier repetitions.
        outcomes: outcomes by target of this repetition.
        draws: whether the API is known to draw random numbers. Then a change on one target
            suffices: the other one may have drawn the same by chance.
    """
    if finding.pair is PairKind.NONE or not traits_of(finding.oracle).compares_results:
        return False
    changed = changed_targets(finding, repetitions, outcomes)
    return bool(changed) if draws else changed == set(outcomes)


def most_common_finding(findings: Sequence[Finding]) -> Finding:
    """Return the first of the findings that have the most frequent fingerprint."""
    keys = [fingerprint(finding).key for finding in findings]
    (key, _), *_ = Counter(keys).most_common(1)
    return findings[keys.index(key)]
