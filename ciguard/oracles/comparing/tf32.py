"""Precision of comparisons with a target that may compute with TF32.

TF32 rounds the inputs of products to 10 bits of mantissa and adds the products in single precision.
It applies to single precision only. Source: NVIDIA, CUDA C++ Programming Guide, section Alternate
Floating Point.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.errors import TargetSyntaxError
from ciguard.oracles.levels import input_precision_of
from ciguard.targets import TF32, read_target

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.oracles.comparing.tolerance import InputPrecision


def with_tf32(inputs: InputPrecision) -> InputPrecision:
    """Return the precision of a call's inputs on a target that may round them to TF32."""
    is_double = 0.0 < inputs.epsilon < dtypes.EPSILON["float32"]
    return inputs if is_double else replace(inputs, uses_tf32=True)


def precision_of(finding: Finding) -> InputPrecision:
    """Return the precision of the inputs of a finding's case on the finding's targets."""
    inputs = input_precision_of(finding.case)
    return with_tf32(inputs) if any(map(selects_tf32, finding.targets)) else inputs


@cache
def selects_tf32(target: str) -> bool:
    """Return whether the target of this name is in mode `tf32`."""
    try:
        return read_target(target.partition(" #")[0]).mode == TF32
    except TargetSyntaxError:
        return False  # results of other programs, which may name targets as they like
