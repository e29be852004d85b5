"""Oracles: each judges the outcomes of one case and returns the defects that it finds in them.

Each oracle is a module. Oracles are pure functions: they use no I/O, clock or random numbers.
`ciguard.triage` confirms their findings.
"""

from ciguard.oracles.across_libraries import compared_item_index, encode_for_target, is_expressible
from ciguard.oracles.between_backends import is_left_to_backends, severity_between_backends
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
    is_unusual_use,
    pair_kind,
)
from ciguard.oracles.documentation import documentation_findings
from ciguard.oracles.equivalents import equivalence_of, equivalent_call, translated_calls
from ciguard.oracles.hang import HANG, SLOW, slow_finding, timeout_of
from ciguard.oracles.instructions import MORE_INSTRUCTIONS, CountChange, has_counts
from ciguard.oracles.levels import (
    JudgedLevel,
    JudgingDefaults,
    Perturbation,
    input_precision_of,
    judged_level_of,
)
from ciguard.oracles.performance import (
    KINDS,
    MIN_GROWTH,
    MIN_PEAK,
    MIN_RATIO,
    MIN_TIME_NS,
    PerformanceOracle,
    is_comparable,
    is_measured,
    measurement_in_words,
    rounds_for,
    steady_growth,
)
from ciguard.oracles.showing import outcome_in_words
from ciguard.oracles.voting import majority_target

__all__ = [
    "DIFFERENTIAL_SEVERITIES",
    "HANG",
    "KINDS",
    "MIN_GROWTH",
    "MIN_PEAK",
    "MIN_RATIO",
    "MIN_TIME_NS",
    "MORE_INSTRUCTIONS",
    "ORACLES",
    "SLOW",
    "UNSTABLE_TAGS",
    "CountChange",
    "Identity",
    "JudgedLevel",
    "JudgingDefaults",
    "PerformanceOracle",
    "Perturbation",
    "Subject",
    "Traits",
    "compared_item_index",
    "documentation_findings",
    "encode_for_target",
    "equivalence_of",
    "equivalent_call",
    "has_counts",
    "headline",
    "input_precision_of",
    "is_comparable",
    "is_expressible",
    "is_left_to_backends",
    "is_measured",
    "is_unusual_use",
    "judge",
    "judged_level_of",
    "majority_target",
    "measurement_in_words",
    "outcome_in_words",
    "pair_kind",
    "rounds_for",
    "severity_between_backends",
    "slow_finding",
    "steady_growth",
    "timeout_of",
    "traits_of",
    "translated_calls",
]
