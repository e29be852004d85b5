"""The type of mutation rules, and their names."""

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
    """The twelve rules of LEMON, section 3.1. The value is the name in files."""

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
    """A mutant, with a description of the mutation."""

    graph: LayerGraph
    what: str
    """Node and layer, for people."""
    drawn: tuple[str, ...] = ()
    """Newly drawn layers, as named by `drawing`, and replacement activations, by their public
    names."""
    chains: tuple[LayerGraph, ...] = ()
    """Inserted layer chains, if there are any: graphs of one input and one output."""


MutationRule: TypeAlias = "Callable[[LayerGraph, random.Random, Universe], ModelMutation | None]"
"""Makes a mutant; returns None if it does not apply to the graph."""
