"""Where the run of a layer or model comes from, in words: the same in every report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ciguard.domain.models import INPUT, Check
from ciguard.domain.text import shortened
from ciguard.triage import LayerOrigin, rate_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.models import GraphOrigin, ModelCase

_CHECKS = {
    Check.PREDICT: "the outputs (predict)",
    Check.TRAIN: "loss and gradients of one training step (train)",
    Check.SAVE: "the outputs before and after the model was saved and loaded (save)",
}
_MAX_MUTATIONS = 4
_MAX_NAME = 80


def checked_text(case: ModelCase) -> str:
    """Return what was run and compared."""
    return _CHECKS[case.check]


def origin_text(case: ModelCase, named: Callable[[str], str] = str) -> str:
    """Return where a case comes from; empty where no seed model is known.

    For example `a mutant of lenet5-mnist (LA conv_1: keras.layers.PReLU; GF dense), isolated from
    17 layers; R_a 3.2e4 at layer conv_3`.
    """
    if case.origin.model == "":
        return ""
    origin = case.origin
    parts = [f"{_model_text(origin, named)}{_part_text(case, named)}"]
    rates = dict(origin.deviations)
    name = suspect(origin)
    if name in rates:
        parts.append(f"R_a {rate_text(rates[name])} at layer {named(_bounded(name))}")
    return "; ".join(parts)


def layer_origin(case: ModelCase) -> LayerOrigin:
    """Return the model that a case comes from, with what its layers deviated by."""
    origin = case.origin
    return LayerOrigin(
        model=origin.model,
        mutations=origin.mutations,
        checked=checked_text(case),
        suspect=suspect(origin),
        is_isolated=case.is_one_layer,
        deviations=origin.deviations,
    )


def suspect(origin: GraphOrigin) -> str:
    """Return the layer that was isolated; where that is not written, the one of the largest R_a."""
    rates = [(rate, name) for name, rate in origin.deviations if not math.isnan(rate)]
    return origin.suspect or max(rates, key=lambda one: one[0], default=(0.0, ""))[1]


def _model_text(origin: GraphOrigin, named: Callable[[str], str]) -> str:
    model = named(_bounded(origin.model))
    if not origin.mutations:
        return model
    shown = [named(_bounded(one)) for one in origin.mutations[:_MAX_MUTATIONS]]
    more = len(origin.mutations) - len(shown)
    listed = "; ".join([*shown, *([f"{more:,} more"] if more else [])])
    return f"a mutant of {model} ({listed})"


def _part_text(case: ModelCase, named: Callable[[str], str]) -> str:
    """Return how much of the model the case is."""
    if not case.is_one_layer:
        return f", run whole: {_layers(sum(node.layer != INPUT for node in case.graph.nodes))}"
    if case.origin.deviations:
        return f", isolated from {_layers(len(case.origin.deviations))}"
    name = case.origin.suspect
    return f", isolated from layer {named(_bounded(name))}" if name else ""


def _layers(count: int) -> str:
    return f"{count:,} layer{'' if count == 1 else 's'}"


def _bounded(name: str) -> str:
    return shortened(name, _MAX_NAME)
