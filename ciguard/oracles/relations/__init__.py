"""Metamorphic relations: laws that hold between a call and another computation, its twin.

One small module per relation: the law, where it applies, its source, and the twin as a value.
"""

from ciguard.oracles.relations.contract import (
    RELATIONS,
    Exemption,
    Observed,
    Observes,
    Relation,
    encode,
    exemption_of,
    exemptions,
    observed_in,
    relate,
    relations_of,
)
from ciguard.oracles.relations.expressions import tensors_of
from ciguard.oracles.relations.kept_arguments import KEPT_ARGUMENTS
from ciguard.oracles.relations.repetition import REPETITION
from ciguard.oracles.relations.strided_memory import STRIDED_MEMORY

__all__ = [
    "KEPT_ARGUMENTS",
    "RELATIONS",
    "REPETITION",
    "STRIDED_MEMORY",
    "Exemption",
    "Observed",
    "Observes",
    "Relation",
    "encode",
    "exemption_of",
    "exemptions",
    "observed_in",
    "relate",
    "relations_of",
    "tensors_of",
]
