"""Value constraints: data that describe what a parameter accepts, and functions that apply them.

`compile_sampler` returns a fast sampler, `compile_strategy` a Hypothesis strategy, and `conforms`
checks a value. `violations` and `boundaries` return mutations to invalid and to boundary values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.values.boundary import boundaries
from ciguard.values.check import conforms
from ciguard.values.codec import constraint_from_json, constraint_to_json
from ciguard.values.constraints import (
    AnyOf,
    Array,
    Between,
    Bool,
    Bytes,
    Constraint,
    Dict,
    Dim,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Mapping,
    Named,
    Object,
    OneOf,
    Optional,
    RankOf,
    SizeOf,
    String,
    Tensor,
    Tuple,
    has_symbols,
    references,
)
from ciguard.values.dictionaries import dictionary, dictionary_items, key_text
from ciguard.values.floating import closed_range, in_range
from ciguard.values.mutation import Mutation, Mutator, insert_special
from ciguard.values.sample import Sampler, compile_sampler
from ciguard.values.scope import SamplingScope
from ciguard.values.violate import violations
from ciguard.values.wording import in_words

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ciguard.domain.values import Value

__all__ = [
    "AnyOf",
    "Array",
    "Between",
    "Bool",
    "Bytes",
    "Constraint",
    "Dict",
    "Dim",
    "Dtype",
    "Float",
    "Int",
    "Ints",
    "List",
    "Mapping",
    "Mutation",
    "Mutator",
    "Named",
    "Object",
    "OneOf",
    "Optional",
    "RankOf",
    "Sampler",
    "SamplingScope",
    "SizeOf",
    "String",
    "Tensor",
    "Tuple",
    "boundaries",
    "closed_range",
    "compile_sampler",
    "compile_strategy",
    "conforms",
    "constraint_from_json",
    "constraint_to_json",
    "dictionary",
    "dictionary_items",
    "has_symbols",
    "in_range",
    "in_words",
    "insert_special",
    "key_text",
    "references",
    "violations",
]


def compile_strategy(
    constraint: Constraint, scope: SamplingScope | None = None
) -> SearchStrategy[Value]:
    """Return a Hypothesis strategy for values that conform to `constraint`.

    References to other parameters are resolved in `scope`; without a scope, they are ignored.
    """
    # Hypothesis is slow to import, and campaigns never need it.
    from ciguard.values.strategy import compile_strategy as compile_  # noqa: PLC0415

    return compile_(constraint, scope)
