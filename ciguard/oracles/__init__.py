"""Oracles: each judges the outcomes of one case and returns the findings that the outcomes prove.

One module per oracle. Oracles are pure: no I/O, no clock, no randomness. `ciguard.triage` confirms
the findings.
"""

from ciguard.oracles.across_libraries import encode_on, is_expressible, returned_part
from ciguard.oracles.contract import (
    ORACLES,
    UNSTABLE_TAGS,
    Identity,
    Subject,
    Traits,
    headline,
    judge,
    traits_of,
)
from ciguard.oracles.differential import SEVERITIES as DIFFERENTIAL_SEVERITIES
from ciguard.oracles.differential import (
    is_backends_own,
    is_unusual_use,
    pair_kind,
    severity_between_backends,
)
from ciguard.oracles.documentation import documentation_findings
from ciguard.oracles.equivalents import calls_across, equivalence_of, equivalent
from ciguard.oracles.hang import HANG, SLOW, limit_of, slow
from ciguard.oracles.levels import JudgedLevel, JudgingDefaults, Move, inputs_in, judged
from ciguard.oracles.performance import (
    KINDS,
    MIN_GROWTH,
    MIN_PEAK,
    MIN_RATIO,
    MIN_TIME_NS,
    PerformanceOracle,
    amount,
    is_comparable,
    is_measured,
    rounds_for,
    steady_growth,
)
from ciguard.oracles.showing import outcome_shown
from ciguard.oracles.voting import elected

__all__ = [
    "DIFFERENTIAL_SEVERITIES",
    "HANG",
    "KINDS",
    "MIN_GROWTH",
    "MIN_PEAK",
    "MIN_RATIO",
    "MIN_TIME_NS",
    "ORACLES",
    "SLOW",
    "UNSTABLE_TAGS",
    "Identity",
    "JudgedLevel",
    "JudgingDefaults",
    "Move",
    "PerformanceOracle",
    "Subject",
    "Traits",
    "amount",
    "calls_across",
    "documentation_findings",
    "elected",
    "encode_on",
    "equivalence_of",
    "equivalent",
    "headline",
    "inputs_in",
    "is_backends_own",
    "is_comparable",
    "is_expressible",
    "is_measured",
    "is_unusual_use",
    "judge",
    "judged",
    "limit_of",
    "outcome_shown",
    "pair_kind",
    "returned_part",
    "rounds_for",
    "severity_between_backends",
    "slow",
    "steady_growth",
    "traits_of",
]
