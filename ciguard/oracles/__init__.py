"""Oracles: each judges the outcomes of one case and returns the findings that they prove.

One module per oracle. Pure: no I/O, no clock, no randomness. Confirmation is triage's job.
"""

from ciguard.oracles.across_libraries import (
    AcrossLibrariesOracle,
    call_on,
    encode_on,
    is_expressible,
    returned_part,
)
from ciguard.oracles.boundary import BoundaryOracle
from ciguard.oracles.comparison import Difference, compare_outputs
from ciguard.oracles.conditioning import (
    is_of_values,
    is_rounding,
    may_be_rounding,
    moved_elements,
    nudged,
)
from ciguard.oracles.contract import (
    ORACLES,
    UNSTABLE_TAGS,
    Identity,
    Oracle,
    Subject,
    Traits,
    headline,
    judge,
    traits_of,
)
from ciguard.oracles.crash import CrashOracle
from ciguard.oracles.differences import differs, evidence_between
from ciguard.oracles.differential import SEVERITIES as DIFFERENTIAL_SEVERITIES
from ciguard.oracles.differential import (
    DifferentialOracle,
    is_backends_own,
    is_unusual_use,
    pair_kind,
    severity_between_backends,
)
from ciguard.oracles.documentation import documentation_findings
from ciguard.oracles.equivalents import calls_across, equivalence_of, equivalent
from ciguard.oracles.exhaustion import ExhaustionOracle
from ciguard.oracles.given import MUCH, has_special_elements, inputs_given, leaves
from ciguard.oracles.hang import HANG, SLOW, HangOracle, limit_of, slow
from ciguard.oracles.internal_error import InternalErrorOracle
from ciguard.oracles.laws import Law, broken_laws, laws_of, mended, where_written
from ciguard.oracles.levels import JudgedLevel, JudgingDefaults, Move, inputs_in, judged
from ciguard.oracles.metamorphic import MetamorphicOracle
from ciguard.oracles.performance import (
    KINDS,
    MIN_GROWTH,
    MIN_PEAK,
    MIN_RATIO,
    MIN_TIME_NS,
    PERFORMANCE,
    PerformanceOracle,
    amount,
    is_comparable,
    is_measured,
    rounds_for,
    steady_growth,
)
from ciguard.oracles.relations import (
    RELATIONS,
    Compares,
    Observes,
    Relation,
    encode,
    has_keyword,
    is_whole,
    relations_of,
    tensors_of,
    with_tensors,
)
from ciguard.oracles.showing import outcome_shown
from ciguard.oracles.tolerance import NO_INPUTS, Inputs, relative_tolerance
from ciguard.oracles.voting import elected

__all__ = [
    "DIFFERENTIAL_SEVERITIES",
    "HANG",
    "KINDS",
    "MIN_GROWTH",
    "MIN_PEAK",
    "MIN_RATIO",
    "MIN_TIME_NS",
    "MUCH",
    "NO_INPUTS",
    "ORACLES",
    "PERFORMANCE",
    "RELATIONS",
    "SLOW",
    "UNSTABLE_TAGS",
    "AcrossLibrariesOracle",
    "BoundaryOracle",
    "Compares",
    "CrashOracle",
    "Difference",
    "DifferentialOracle",
    "ExhaustionOracle",
    "HangOracle",
    "Identity",
    "Inputs",
    "InternalErrorOracle",
    "JudgedLevel",
    "JudgingDefaults",
    "Law",
    "MetamorphicOracle",
    "Move",
    "Observes",
    "Oracle",
    "PerformanceOracle",
    "Relation",
    "Subject",
    "Traits",
    "amount",
    "broken_laws",
    "call_on",
    "calls_across",
    "compare_outputs",
    "differs",
    "documentation_findings",
    "elected",
    "encode",
    "encode_on",
    "equivalence_of",
    "equivalent",
    "evidence_between",
    "has_keyword",
    "has_special_elements",
    "headline",
    "inputs_given",
    "inputs_in",
    "is_backends_own",
    "is_comparable",
    "is_expressible",
    "is_measured",
    "is_of_values",
    "is_rounding",
    "is_unusual_use",
    "is_whole",
    "judge",
    "judged",
    "laws_of",
    "leaves",
    "limit_of",
    "may_be_rounding",
    "mended",
    "moved_elements",
    "nudged",
    "outcome_shown",
    "pair_kind",
    "relations_of",
    "relative_tolerance",
    "returned_part",
    "rounds_for",
    "severity_between_backends",
    "slow",
    "steady_growth",
    "tensors_of",
    "traits_of",
    "where_written",
    "with_tensors",
]
