"""The same twenty functions in plain Hypothesis: each argument by itself, from its `@arg` alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from function_sets.programs import Model

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Strategy: TypeAlias = "SearchStrategy[Any]"


def _lists(most: int, low: int, high: int, least: int = 1) -> Strategy:
    return st.lists(st.integers(low, high), min_size=least, max_size=most)


def _arrays(shape: Strategy, low: float, high: float) -> Strategy:
    return npst.arrays(np.float32, shape, elements=st.floats(low, high, width=32))


def _sides(*ends: tuple[int, int]) -> Strategy:
    return st.tuples(*(st.integers(*end) for end in ends))


_SHARE = st.floats(0, 1, exclude_min=True, exclude_max=True)
_SEQUENCE = _arrays(_sides((1, 3), (1, 6), (2, 12)), -9, 9)
_MATRIX = _arrays(_sides((1, 6), (1, 6)), -9, 9)
_CUBE = _arrays(npst.array_shapes(min_dims=1, max_dims=3, max_side=4), -9, 9)

ARGUMENTS: dict[str, dict[str, Strategy]] = {
    "scaled": {
        "value": st.integers(0, 255),
        "invert": st.booleans(),
        "mode": st.sampled_from(["same", "half", "double"]),
    },
    "annealed": {
        "rate": _SHARE,
        "decay": st.floats(1e-4, 1e-2),
        "step": st.integers(0, 10_000),
    },
    "parameters": {"sizes": _lists(6, 1, 512), "classes": st.integers(2, 100)},
    "layer_index": {
        "name": st.from_regex("[a-z]{1,6}_[0-9]{1,2}", fullmatch=True),
        "prefix": st.text("abc/", max_size=4),
    },
    "configured": {
        "options": st.dictionaries(
            st.sampled_from(["width", "depth", "heads"]), st.integers(1, 64), min_size=1
        ),
        "strict": st.booleans(),
    },
    "cropped": {"low": st.integers(0, 1000), "high": st.integers(0, 1000)},
    "divided": {
        "total": st.integers(1, 1000),
        "train": st.integers(0, 1000),
        "valid": st.integers(0, 1000),
    },
    "head_size": {"width": st.integers(8, 512), "heads": st.integers(2, 16)},
    "group_weights": {
        "inputs": st.integers(1, 256),
        "outputs": st.integers(1, 256),
        "groups": st.integers(2, 32),
    },
    "dense_net": {
        "input_shape": _sides((20, 70), (20, 70), (1, 3)),
        "dense_blocks": st.integers(2, 5),
        "dense_layers": st.just(-1) | st.integers(1, 5) | _lists(5, 2, 5, least=2),
        "dropout_rate": _SHARE,
        "compression": st.floats(0, 1, exclude_min=True),
        "depth": st.integers(10, 100),
    },
    "stacked": {
        "depth": st.integers(1, 6),
        "widths": _lists(6, 1, 64),
        "active": npst.array_shapes(min_dims=1, max_dims=6, max_side=3),
    },
    "windows": {
        "values": _lists(20, 0, 9),
        "size": st.integers(1, 20),
        "stride": st.integers(1, 5),
    },
    "convolved": {
        "size": st.integers(1, 224),
        "kernel": st.integers(1, 11),
        "stride": st.integers(1, 4),
        "padding": st.integers(0, 5),
        "dilation": st.integers(1, 4),
    },
    "permuted": {
        "shape": npst.array_shapes(min_dims=2, max_dims=4, max_side=5),
        "axes": _lists(4, 0, 3, least=2),
    },
    "distance": {"first": _CUBE, "second": _CUBE},
    "dense": {"left": _MATRIX, "right": _MATRIX, "bias": _arrays(_sides((1, 6)), -1, 1)},
    "cross_entropy": {
        "classes": st.integers(2, 6),
        "logits": _arrays(_sides((1, 8), (2, 6)), -9, 9),
        "labels": npst.arrays(np.int64, _sides((1, 8)), elements=st.integers(0, 5)),
    },
    "trained": {
        "model": st.builds(Model, st.integers(1, 6), st.integers(1, 6)),
        "batch": _arrays(_sides((1, 8), (1, 6)), -9, 9),
    },
    "attention": {
        "query": _SEQUENCE,
        "key": _SEQUENCE,
        "value": _SEQUENCE,
        "heads": st.integers(1, 4),
    },
    "pyramid": {
        "image": _arrays(_sides((4, 64), (4, 64), (1, 3)), 0, 1),
        "depth": st.integers(1, 4),
        "filters": _lists(4, 1, 8),
    },
}


def arguments_of(function: str) -> Strategy:
    """Return the arguments of a function, valid or not."""
    return st.fixed_dictionaries(ARGUMENTS[function])
