"""Options of Grappler, which optimises TensorFlow's graphs, that must not change results."""

from __future__ import annotations

OPTIONS: dict[str, dict[str, bool | int]] = {
    "small graphs": {"min_graph_nodes": -1},
    "no folding": {"constant_folding": False},
    "no arithmetic": {"arithmetic_optimization": False},
    "no remapping": {"remapping": False},
    "no shapes": {"shape_optimization": False},
    "no layouts": {"layout_optimizer": False},
    "no dependencies": {"dependency_optimization": False},
    "no loops": {"loop_optimization": False},
    "no functions": {"function_optimization": False},
    "no pruning": {"disable_model_pruning": True},
}
"""Options of `tensorflow.config.optimizer` by name."""
