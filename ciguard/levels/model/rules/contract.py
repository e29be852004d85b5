"""What a mutation rule is."""

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
    """The twelve rules of LEMON, section 3.1. The value is their name in files."""

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
    """A mutant, and what was done to make it."""

    graph: LayerGraph
    what: str
    """Node and layer, for people."""
    drawn: tuple[str, ...] = ()
    """What was drawn anew for it: layers as `drawing` names them, activations that took the place
    of others by their public names."""
    chains: tuple[LayerGraph, ...] = ()
    """What was inserted, if that is what was done: graphs of one input and one output."""


MutationRule: TypeAlias = "Callable[[LayerGraph, random.Random, Universe], ModelMutation | None]"
"""Makes a mutant; None where it finds no place in the graph."""
