"""The origin of a layer's or model's run, as all reports describe it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ciguard.domain.models import INPUT, Check
from ciguard.domain.text import shortened
from ciguard.levels.model.battery import ORIGIN as BATTERY
from ciguard.triage import LayerOrigin, deviation_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.models import GraphOrigin, ModelCase

_CHECKS = {
    Check.PREDICT: "the outputs (predict)",
    Check.TRAIN: "loss and gradients of one training step (train)",
    Check.SAVE: "the outputs before and after the model was saved and loaded (save)",
}
_MAX_MUTATIONS = 4
_MAX_NAME_LENGTH = 80


def checked_text(case: ModelCase) -> str:
    """Return a phrase about what was compared."""
    return _CHECKS[case.check]


def origin_text(case: ModelCase, named: Callable[[str], str] = str) -> str:
    """Return a phrase about the origin of a case; empty if its seed model is unknown.

    For example: `a mutant of lenet5-mnist (LA conv_1: keras.layers.PReLU; GF dense), isolated from
    17 layers; R_a 3.2e4 at layer conv_3`.
    """
    if case.origin.model == "":
        return ""
    origin = case.origin
    parts = [f"{_model_text(origin, named)}{_part_text(case, named)}"]
    rates = dict(origin.deviations)
    name = suspect(origin)
    if name in rates:
        parts.append(f"R_a {deviation_text(rates[name])} at layer {named(_short_name(name))}")
    return "; ".join(parts)


def layer_origin(case: ModelCase) -> LayerOrigin:
    """Return the seed model of a case, its mutations, and the deviations of its layers."""
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
    """Return the name of the isolated layer; by default, of the layer with the largest R_a."""
    rates = [(rate, name) for name, rate in origin.deviations if not math.isnan(rate)]
    return origin.suspect or max(rates, key=lambda pair: pair[0], default=(0.0, ""))[1]


def _model_text(origin: GraphOrigin, named: Callable[[str], str]) -> str:
    if origin.model == BATTERY:
        return "the layer alone, as part of the battery of all layers"
    model = named(_short_name(origin.model))
    if not origin.mutations:
        return model
    shown = [named(_short_name(mutation)) for mutation in origin.mutations[:_MAX_MUTATIONS]]
    omitted = len(origin.mutations) - len(shown)
    listed = "; ".join([*shown, *([f"{omitted:,} more"] if omitted else [])])
    return f"a mutant of {model} ({listed})"


def _part_text(case: ModelCase, named: Callable[[str], str]) -> str:
    """Return a phrase about the part of the model that the case runs."""
    if not case.is_one_layer:
        return f", run whole: {_layer_count(sum(node.layer != INPUT for node in case.graph.nodes))}"
    if case.origin.deviations:
        return f", isolated from {_layer_count(len(case.origin.deviations))}"
    name = case.origin.suspect
    return f", isolated from layer {named(_short_name(name))}" if name else ""


def _layer_count(count: int) -> str:
    return f"{count:,} layer{'' if count == 1 else 's'}"


def _short_name(name: str) -> str:
    return shortened(name, _MAX_NAME_LENGTH)
