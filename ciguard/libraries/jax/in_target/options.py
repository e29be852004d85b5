"""Options of XLA that must not change results, beside its own."""

from __future__ import annotations

import functools
import importlib
from typing import Any

OPTIONS: dict[str, dict[str, Any]] = {
    "no algebraic simplification": {"xla_disable_hlo_passes": "algsimp"},
    "no fusion": {"xla_disable_hlo_passes": "fusion"},
    "no common subexpressions": {"xla_disable_hlo_passes": "cse"},
    "no folding": {"xla_disable_hlo_passes": "constant_folding"},
    "no emitters of fusions": {"xla_cpu_use_fusion_emitters": False},
    "no excess precision": {"xla_allow_excess_precision": False},
    "instructions of SSE": {"xla_cpu_max_isa": "SSE4_2"},
    "wide vectors": {"xla_cpu_prefer_vector_width": 512},
    "few passes of LLVM": {"xla_llvm_disable_expensive_passes": True},
    "sequential schedule": {"xla_cpu_enable_concurrency_optimized_scheduler": False},
}
"""Options of `jax.jit` by name."""


@functools.cache
def known_options(name: str) -> dict[str, Any]:
    """Return the options of a name that this version has; none if `jax.jit` takes no options."""
    return {key: value for key, value in OPTIONS[name].items() if _is_known(key, value)}


def _is_known(key: str, value: Any) -> bool:
    jax = importlib.import_module("jax")
    try:
        jax.jit(lambda number: number, compiler_options={key: value})(0.0)
    except (TypeError, RuntimeError):  # no such argument, or XLA has no such option
        return False
    return True
