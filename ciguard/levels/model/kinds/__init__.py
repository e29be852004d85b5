"""Table of the layer classes: one row per class, in modules by family."""

from ciguard.levels.model.kinds import (
    convolution,
    core,
    elementwise,
    merging,
    pooling,
    preprocessing,
    recurrent,
    reshaping,
    wrapping,
)
from ciguard.levels.model.kinds.outside import OUTSIDE

KINDS = tuple(
    kind
    for module in (
        core,
        elementwise,
        convolution,
        pooling,
        recurrent,
        merging,
        reshaping,
        preprocessing,
        wrapping,
    )
    for kind in module.KINDS
)

__all__ = ["KINDS", "OUTSIDE"]
