"""Options of inductor that must not change results, beside its own."""

from __future__ import annotations

from typing import Any

OPTIONS: dict[str, dict[str, Any]] = {
    "aggressive fusion": {"aggressive_fusion": True, "loop_ordering_after_fusion": True},
    "little fusion": {"max_fusion_size": 2, "epilogue_fusion": False},
    "no patterns": {"pattern_matcher": False, "split_cat_fx_passes": False},
    "no folding": {
        "joint_graph_constant_folding": False,
        "constant_and_index_propagation": False,
        "optimize_scatter_upon_const_tensor": False,
    },
    "no reuse of buffers": {"allow_buffer_reuse": False, "inplace_buffers": False},
    "planned memory": {"memory_planning": True},
    "many buffers": {"realize_reads_threshold": 1, "realize_opcount_threshold": 1},
    "other order": {"reorder_for_locality": False, "reorder_for_peak_memory": False},
    "plain loops": {"cpp.enable_tiling_heuristics": False, "cpp.enable_loop_tail_vec": False},
    "unrolled reductions": {"unroll_reductions_threshold": 64},
}
"""Settings of `torch._inductor.config` by name. Versions ignore those that they lack."""
