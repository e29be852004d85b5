"""Metamorphic relations: statements about a call and its twin, an equivalent computation.

Each module defines one relation or a few similar ones: the statement, the APIs that it holds for,
its source, and the twin as a value.
"""

from ciguard.oracles.relations.batches import EMPTY_BATCH, REVERSED_BATCH, SPLIT_BATCH
from ciguard.oracles.relations.broadcasting import BROADCASTING
from ciguard.oracles.relations.contract import (
    RELATIONS,
    Compares,
    Exemption,
    ObservedPair,
    Observes,
    Relation,
    encode,
    exemption_of,
    exemptions,
    is_replayable,
    is_slow,
    observed_in,
    relate,
    relations_of,
)
from ciguard.oracles.relations.devices import DEVICE_ROUND_TRIP
from ciguard.oracles.relations.entry_points import IN_PLACE, LAYER, METHOD, OUT, STRIDED_OUT
from ciguard.oracles.relations.expressions import has_keyword, tensors_of, with_tensors
from ciguard.oracles.relations.gradients import FORWARD_MODE, REVERSE_MODE, SECOND_ORDER
from ciguard.oracles.relations.modes import JAX_JIT, TF_FUNCTION, TF_XLA, TORCH_COMPILE, TORCH_TRACE
from ciguard.oracles.relations.precision import PRECISION
from ciguard.oracles.relations.promotion import PROMOTION
from ciguard.oracles.relations.reductions import REVERSED_REDUCTION
from ciguard.oracles.relations.repetition import REPETITION
from ciguard.oracles.relations.scalars import SCALARS
from ciguard.oracles.relations.serialisation import SERIALISATION
from ciguard.oracles.relations.strided_memory import STRIDED_MEMORY
from ciguard.oracles.relations.unchanged_arguments import UNCHANGED_ARGUMENTS
from ciguard.oracles.relations.vectorised import VECTORISED

__all__ = [
    "BROADCASTING",
    "DEVICE_ROUND_TRIP",
    "EMPTY_BATCH",
    "FORWARD_MODE",
    "IN_PLACE",
    "JAX_JIT",
    "LAYER",
    "METHOD",
    "OUT",
    "PRECISION",
    "PROMOTION",
    "RELATIONS",
    "REPETITION",
    "REVERSED_BATCH",
    "REVERSED_REDUCTION",
    "REVERSE_MODE",
    "SCALARS",
    "SECOND_ORDER",
    "SERIALISATION",
    "SPLIT_BATCH",
    "STRIDED_MEMORY",
    "STRIDED_OUT",
    "TF_FUNCTION",
    "TF_XLA",
    "TORCH_COMPILE",
    "TORCH_TRACE",
    "UNCHANGED_ARGUMENTS",
    "VECTORISED",
    "Compares",
    "Exemption",
    "ObservedPair",
    "Observes",
    "Relation",
    "encode",
    "exemption_of",
    "exemptions",
    "has_keyword",
    "is_replayable",
    "is_slow",
    "observed_in",
    "relate",
    "relations_of",
    "tensors_of",
    "with_tensors",
]
