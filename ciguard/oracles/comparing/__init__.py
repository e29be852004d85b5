"""Comparison of two results, within the rounding that their inputs allow."""

from ciguard.oracles.comparing.comparison import Difference, compare_outputs
from ciguard.oracles.comparing.conditioning import (
    is_of_values,
    is_rounding,
    may_be_rounding,
    moved_elements,
    nudged,
)
from ciguard.oracles.comparing.differences import differs, evidence_between
from ciguard.oracles.comparing.inputs import MUCH, has_special_elements, inputs_given, leaves
from ciguard.oracles.comparing.tolerance import NO_INPUTS, InputPrecision, relative_tolerance

__all__ = [
    "MUCH",
    "NO_INPUTS",
    "Difference",
    "InputPrecision",
    "compare_outputs",
    "differs",
    "evidence_between",
    "has_special_elements",
    "inputs_given",
    "is_of_values",
    "is_rounding",
    "leaves",
    "may_be_rounding",
    "moved_elements",
    "nudged",
    "relative_tolerance",
]
