"""Simpler values, with which levels create simpler variants of a case."""

from ciguard.triage.simplifying.parts import (
    arrays_in,
    one_simpler,
    simpler_pairs,
    simpler_values,
    with_arrays,
)
from ciguard.triage.simplifying.values import AnyArray, shorter, simpler_together

__all__ = [
    "AnyArray",
    "arrays_in",
    "one_simpler",
    "shorter",
    "simpler_pairs",
    "simpler_together",
    "simpler_values",
    "with_arrays",
]
