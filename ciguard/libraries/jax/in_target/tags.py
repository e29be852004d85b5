"""Tags of JAX's APIs."""

from __future__ import annotations

from ciguard.libraries.in_target.tag_names import (
    CALLBACK,
    FILES,
    GLOBAL_STATE,
    RANDOM,
    UNSTABLE,
    TagRow,
)
from ciguard.libraries.in_target.tags import tagger

_JAX = r"^jax\.(?:\w+\.)*"

ROWS = (
    TagRow(
        FILES,
        _JAX,
        "files",
        (
            r"(?:save|savez|load|fromfile|savetxt|loadtxt|frombuffer|memmap)$",
            r"export\.|profiler\.",
        ),
    ),
    TagRow(
        CALLBACK,
        _JAX,
        "take Python functions, or run inside a mapped one",
        (
            r"(?:apply_along_axis|apply_over_axes|vectorize|fromfunction|frompyfunc|piecewise|cond|switch|while_loop|fori_loop|scan|map|associative_scan|custom_\w+|reduce|reduce_window|reduce_and\w*|platform_dependent|composite|optimization_barrier|create_token|after_all|infeed|outfeed)$",
            r"(?:all_gather|all_to_all|axis_index|axis_size|p(?:broadcast|max|mean|min|permute|shuffle|sum|sum_scatter|swapaxes)|pcast|ragged_all_to_all|psend|precv)$",
        ),
    ),
    TagRow(
        GLOBAL_STATE,
        _JAX,
        "settings of the process",
        (r"set_printoptions$|printoptions$|config\.",),
    ),
    TagRow(
        RANDOM,
        _JAX,
        "draw from a key",
        (r"random\.\w+$", r"(?:rng_uniform|rng_bit_generator)$", r"initializers\.\w+$"),
    ),
    TagRow(UNSTABLE, _JAX, "uninitialised memory", (r"empty\w*$",)),
)

tags_of = tagger(*ROWS)
