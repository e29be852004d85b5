"""Comparison of two results, within a tolerance for rounding errors."""

from ciguard.oracles.comparing.comparison import Difference, compare_outputs
from ciguard.oracles.comparing.conditioning import (
    is_explained_by_rounding,
    is_numeric_difference,
    may_be_rounding,
    perturb_case,
    perturb_elements,
    result_epsilon,
)
from ciguard.oracles.comparing.differences import evidence_between, outcome_difference
from ciguard.oracles.comparing.inputs import (
    LARGE_NUMBER,
    has_special_elements,
    input_precision,
    leaf_values,
)
from ciguard.oracles.comparing.tf32 import precision_of, with_tf32
from ciguard.oracles.comparing.tolerance import NO_INPUTS, InputPrecision, relative_tolerance

__all__ = [
    "LARGE_NUMBER",
    "NO_INPUTS",
    "Difference",
    "InputPrecision",
    "compare_outputs",
    "evidence_between",
    "has_special_elements",
    "input_precision",
    "is_explained_by_rounding",
    "is_numeric_difference",
    "leaf_values",
    "may_be_rounding",
    "outcome_difference",
    "perturb_case",
    "perturb_elements",
    "precision_of",
    "relative_tolerance",
    "result_epsilon",
    "with_tf32",
]
