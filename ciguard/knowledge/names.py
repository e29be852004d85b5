"""Clues from a parameter's name alone: the weakest source, used where no other has a clue."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ciguard.knowledge.clues import LEAD, Clue, ClueSource, Structure

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord

_INT, _INTS, _TENSOR = Structure.INT, Structure.INTS, Structure.TENSOR

_RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        r"(?:dim|axis)\d?|dimension|(?:\w+_)(?:dim|axis)|start_dim|end_dim",
        {"structures": (_INT,), "axis_of": LEAD, "ndim": (0, 0), "low": 0, "high": 1},
    ),
    (
        r"dims|axes|reduction_indices|perm|permutation",
        {"structures": (_INTS, _INT), "axis_of": LEAD, "ndim": (1, 1)},
    ),
    (
        r"kernel_size|kernel|window(?:_size)?|pool_size|filter_size|block_size",
        {"structures": (_INT,), "low": 1, "high": 3},
    ),
    (
        r"strides?|dilations?|dilation_rate|groups?",
        {"structures": (_INT,), "low": 1, "high": 2},
    ),
    (r"(?:\w+_)?(?:paddings?|croppings?)|pad", {"structures": (_INT,), "low": 0, "high": 1}),
    (
        r"output_size|normalized_shape|size|shape|sizes|target_shape|newshape|output_shape",
        {"structures": (_INTS,), "low": 1, "high": 4, "length": (1, 3)},
    ),
    (
        r"(?:repeats|reps|multiples|tile_dims)",
        {"structures": (_INTS,), "low": 1, "high": 3, "length_of": LEAD},
    ),
    (
        (
            r"in_channels|in_features|num_features|input_size|embed_dim|embedding_dim|d_model|"
            r"num_channels|in1_features|in2_features|out_features|out_channels|hidden_size|"
            r"num_embeddings|units|filters"
        ),
        {"structures": (_INT,), "low": 1, "high": 6},
    ),
    (
        r"num_heads|nhead|num_layers|num_groups|num_parameters",
        {"structures": (_INT,), "low": 1, "high": 2},
    ),
    (
        (
            r"n|m|k|num|count|steps|num_\w+|\w*_size|\w+_count|depth|length|max\w*len\w*|bins|"
            r"upscale_factor|downscale_factor|\w*_length|(?:\w+_)?(?:height|width)"
        ),
        {"structures": (_INT,), "low": 1, "high": 4},
    ),
    (r"diagonal|offset|shifts?|lag", {"structures": (_INT,), "low": -1, "high": 2}),
    (
        (
            r"p|rate|alpha|beta|gamma|eps\w*|momentum|lr|learning_rate|rho|decay|negative_slope|"
            r"threshold|margin|lambd\w*|\w*tol|scale|std|mean|value|fill_value|delta|epsilon"
        ),
        {"low": 0.0, "high": 1.0},
    ),
    (
        r"indices|index|ids|indexes|idx",
        {"dtypes": ("int64", "int32"), "index_of": LEAD, "low": 0, "high": 3},
    ),
    (r"\w*_indices|\w+_ids|labels?|targets?_?class\w*", {"low": 0, "high": 2}),
    (r"segment_ids", {"low": 0, "high": 3, "increasing": True, "ndim": (1, 1)}),
    (r"num_segments", {"low": 4, "high": 6, "ndim": (0, 0)}),
    (
        (
            r"keepdims?|keep_dims|inplace|training|is_training|ceil_mode|align_corners|bias|largest|"
            r"sorted|descending|unbiased|affine|transpose\w*|use_\w+|is_\w+|\w+_only|return_\w+"
        ),
        {"structures": (Structure.BOOL,)},
    ),
    (r"d?type|out_type|output_dtype|out_dtype|\w+_dtype", {"structures": (Structure.DTYPE,)}),
    (r"seed2?", {"structures": (_INT,), "low": 0, "high": 8}),
    (r"generator", {"structures": (Structure.OPAQUE,), "nullable": True}),
    (r"out|name|pin_memory|layout|requires_grad|names", {"nullable": True}),
    (r"tensors|values|inputs|arrays|xs|operands", {"structures": (Structure.TENSORS, _TENSOR)}),
    (
        (
            r"input|x|y|self|other|tensor|a|b|tensor\d|x\d|input\d|mat\d?|vec\d?|weight|data|logits|"
            r"features|target|images?|source|src|query|key"
        ),
        {"structures": (_TENSOR,)},
    ),
    (r"\w*mask|condition|cond|pred", {"dtypes": ("bool",), "broadcast_with": LEAD}),
)
_RULES_BY_API: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        r"rates?",
        r"(?i:conv|atrous|dilat|erosion|patches|pool)",
        {"structures": (_INT,), "low": 1, "high": 2},
    ),
    (
        r"seed",
        r"stateless",
        {"structures": (_TENSOR,), "dtypes": ("int32", "int64"), "shape": (2,)},
    ),
)
"""Patterns of the parameter and of the API. A `rate` is a dilation there, and a probability in
dropout layers."""
_MAX_RULE_LENGTH = 40
"""Maximum number of characters of a pattern that is shown: a pattern may list dozens of names."""
_MAX_CACHED_NAMES = 4096
_COMPILED_RULES = tuple((re.compile(pattern), fields) for pattern, fields in _RULES)


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Return the clue of the first rule that matches the parameter's name, and perhaps the API."""
    for pattern, api, fields in _RULES_BY_API:
        if re.fullmatch(pattern, parameter.name) and re.search(api, record.api):
            return [_clue(parameter.name, pattern, fields)]
    return [*_clues(parameter.name)]


@lru_cache(maxsize=_MAX_CACHED_NAMES)
def _clues(name: str) -> tuple[Clue, ...]:
    for pattern, fields in _COMPILED_RULES:
        if pattern.fullmatch(name.lower()):
            return (_clue(name, pattern.pattern, fields),)
    return ()


def _clue(name: str, pattern: str, fields: dict[str, Any]) -> Clue:
    rule = pattern[:_MAX_RULE_LENGTH]
    return Clue(source=ClueSource.NAME, evidence=name, rule=rule, **fields)
