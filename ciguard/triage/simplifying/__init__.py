"""Simpler values, with which levels create simpler variants of a case."""

from ciguard.triage.simplifying.parts import (
    arrays_in,
    change_array,
    simpler_pairs,
    simpler_values,
    simplify_one_value,
)
from ciguard.triage.simplifying.values import AnyArray, shorter_tuples, simpler_together

__all__ = [
    "AnyArray",
    "arrays_in",
    "change_array",
    "shorter_tuples",
    "simpler_pairs",
    "simpler_together",
    "simpler_values",
    "simplify_one_value",
]
