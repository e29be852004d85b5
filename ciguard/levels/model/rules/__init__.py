"""The twelve mutation rules of LEMON (section 3.1), as pure functions of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.models import WeightRule
from ciguard.levels.model.rules.activations import remove_activation, replace_activation
from ciguard.levels.model.rules.adding import add, add_many
from ciguard.levels.model.rules.contract import ModelMutation, MutationRule, RuleName
from ciguard.levels.model.rules.structure import copy, remove, switch
from ciguard.levels.model.rules.weights import weight_rule

if TYPE_CHECKING:
    from collections.abc import Mapping

RULES: Mapping[RuleName, MutationRule] = {
    RuleName.REMOVAL: remove,
    RuleName.SWITCH: switch,
    RuleName.COPY: copy,
    RuleName.ADDITION: add,
    RuleName.MULTI_ADDITION: add_many,
    RuleName.ACTIVATION_REMOVAL: remove_activation,
    RuleName.ACTIVATION_REPLACEMENT: replace_activation,
    **{RuleName(rule.value): weight_rule(rule) for rule in WeightRule},
}

__all__ = ["RULES", "ModelMutation", "MutationRule", "RuleName"]
