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
from ciguard.oracles.app_runs import (
    ANY_INPUT,
    APPLICATION,
    CONTRADICTION,
    CRASH,
    UNKNOWN_LABEL,
    ApplicationOracle,
    Applied,
    condition_words,
    kind_of,
    of_answers,
    of_conditions,
    of_difference,
    of_inputs,
)
from ciguard.oracles.boundary import BoundaryOracle
from ciguard.oracles.comparison import compare_outputs
from ciguard.oracles.conditioning import is_rounding, may_be_rounding, nudged, nudged_run
from ciguard.oracles.contract import ORACLES, Identity, Oracle, Subject, Traits, judge, traits_of
from ciguard.oracles.crash import CrashOracle
from ciguard.oracles.derivation import ACCEPTED, DERIVATION, FAILED, DerivationOracle
from ciguard.oracles.differential import (
    DifferentialOracle,
    differs,
    differs_in,
    has_special_elements,
    inputs_in,
    is_unusual_use,
    leaves,
    pair_kind,
)
from ciguard.oracles.documentation import documentation_findings
from ciguard.oracles.equivalents import calls_across, equivalence_of, equivalent
from ciguard.oracles.exhaustion import ExhaustionOracle
from ciguard.oracles.function_runs import FUNCTION, MUTATION, FunctionOracle
from ciguard.oracles.growth import GROWTH, MIN_BYTES, MIN_SECONDS, GrowthOracle
from ciguard.oracles.hang import HANG, SLOW, HangOracle, limit_of, slow
from ciguard.oracles.internal_error import InternalErrorOracle
from ciguard.oracles.laws import Law, broken_laws, laws_of, mended, where_written
from ciguard.oracles.layer_runs import LayerRunOracle, precision_of
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
from ciguard.oracles.program_runs import program_run
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
from ciguard.oracles.tolerance import Inputs, relative_tolerance
from ciguard.oracles.voting import elected

__all__ = [
    "ACCEPTED",
    "ANY_INPUT",
    "APPLICATION",
    "CONTRADICTION",
    "CRASH",
    "DERIVATION",
    "FAILED",
    "FUNCTION",
    "GROWTH",
    "HANG",
    "KINDS",
    "MIN_BYTES",
    "MIN_GROWTH",
    "MIN_PEAK",
    "MIN_RATIO",
    "MIN_SECONDS",
    "MIN_TIME_NS",
    "MUTATION",
    "ORACLES",
    "PERFORMANCE",
    "RELATIONS",
    "SLOW",
    "UNKNOWN_LABEL",
    "AcrossLibrariesOracle",
    "ApplicationOracle",
    "Applied",
    "BoundaryOracle",
    "Compares",
    "CrashOracle",
    "DerivationOracle",
    "DifferentialOracle",
    "ExhaustionOracle",
    "FunctionOracle",
    "GrowthOracle",
    "HangOracle",
    "Identity",
    "Inputs",
    "InternalErrorOracle",
    "Law",
    "LayerRunOracle",
    "MetamorphicOracle",
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
    "condition_words",
    "differs",
    "differs_in",
    "documentation_findings",
    "elected",
    "encode",
    "encode_on",
    "equivalence_of",
    "equivalent",
    "has_keyword",
    "has_special_elements",
    "inputs_in",
    "is_comparable",
    "is_expressible",
    "is_measured",
    "is_rounding",
    "is_unusual_use",
    "is_whole",
    "judge",
    "kind_of",
    "laws_of",
    "leaves",
    "limit_of",
    "may_be_rounding",
    "mended",
    "nudged",
    "nudged_run",
    "of_answers",
    "of_conditions",
    "of_difference",
    "of_inputs",
    "pair_kind",
    "precision_of",
    "program_run",
    "relations_of",
    "relative_tolerance",
    "returned_part",
    "rounds_for",
    "slow",
    "steady_growth",
    "tensors_of",
    "traits_of",
    "where_written",
    "with_tensors",
]
