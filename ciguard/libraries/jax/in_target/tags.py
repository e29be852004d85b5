"""JAX's names that need care."""

from __future__ import annotations

from ciguard.libraries.in_target.tag_names import (
    CALLBACK,
    FILES,
    GLOBAL_STATE,
    RANDOM,
    UNSTABLE,
    Row,
)
from ciguard.libraries.in_target.tags import tagger

_JAX = r"^jax\.(?:\w+\.)*"

ROWS = (
    Row(
        FILES,
        _JAX,
        "files",
        (
            r"(?:save|savez|load|fromfile|savetxt|loadtxt|frombuffer|memmap)$",
            r"export\.|profiler\.",
        ),
    ),
    Row(
        CALLBACK,
        _JAX,
        "take Python functions, or run inside a mapped one",
        (
            r"(?:apply_along_axis|apply_over_axes|vectorize|fromfunction|frompyfunc|piecewise|cond|switch|while_loop|fori_loop|scan|map|associative_scan|custom_\w+|reduce|reduce_window|reduce_and\w*|platform_dependent|composite|optimization_barrier|create_token|after_all|infeed|outfeed)$",
            r"(?:all_gather|all_to_all|axis_index|axis_size|p(?:broadcast|max|mean|min|permute|shuffle|sum|sum_scatter|swapaxes)|pcast|ragged_all_to_all|psend|precv)$",
        ),
    ),
    Row(
        GLOBAL_STATE,
        _JAX,
        "settings of the process",
        (r"set_printoptions$|printoptions$|config\.",),
    ),
    Row(
        RANDOM,
        _JAX,
        "draw from a key",
        (r"random\.\w+$", r"(?:rng_uniform|rng_bit_generator)$", r"initializers\.\w+$"),
    ),
    Row(UNSTABLE, _JAX, "uninitialised memory", (r"empty\w*$",)),
)

tags_of = tagger(*ROWS)
