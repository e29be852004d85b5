"""The names of mutation rules, and the types of a rule and its result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from ciguard.domain.models import LayerGraph
    from ciguard.levels.model.universe import Universe


class RuleName(StrEnum):
    """The twelve rules of LEMON (section 3.1), by the abbreviations that files have."""

    REMOVAL = "LR"
    SWITCH = "LS"
    COPY = "LC"
    ADDITION = "LA"
    MULTI_ADDITION = "MLA"
    ACTIVATION_REMOVAL = "AFRm"
    ACTIVATION_REPLACEMENT = "AFRp"
    GAUSSIAN_FUZZING = "GF"
    WEIGHT_SHUFFLING = "WS"
    ACTIVATION_INVERSE = "NAI"
    EFFECT_BLOCK = "NEB"
    NEURON_SWITCH = "NS"


@dataclass(frozen=True, slots=True)
class ModelMutation:
    """The result of a mutation rule."""

    graph: LayerGraph
    """Graph of the mutant."""
    description: str
    """Description of the mutation for reports: nodes and layers."""
    drawn: tuple[str, ...] = ()
    """Names under which draws are counted: of layers by `draw_name`, of activations the public
    name."""
    chains: tuple[LayerGraph, ...] = ()
    """Inserted chains of layers, as graphs with one input and one output."""


MutationRule: TypeAlias = "Callable[[LayerGraph, random.Random, Universe], ModelMutation | None]"
"""Function that makes a mutant of a graph; None if the rule does not apply to the graph."""
