"""Conventions: ranges that the names of parameters imply, where the documentation states none.

A momentum of 2 or a negative margin is a mistake in any library, although few documents say so. The
meaning of a name depends on the API: `rate` is a probability in a dropout layer and a dilation in a
convolution. Findings name convention as their source.

Zero is only forbidden where it has no meaning, such as the size of a window. Optimisers of PyTorch
allow an `eps` of 0, and many layers allow 0 features.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.oracles.specifications.requirements import Requirement, interval

if TYPE_CHECKING:
    from collections.abc import Iterator

_DROPOUT = r"(?i:drop_?(?:out|path|connect))"
_WINDOWS = r"(?i:conv(?!er)|pool|unfold|dilat|erosion|upsampling)"
_BATCH_NORM = r"(?i:batch_?norm)"


@dataclass(frozen=True, slots=True)
class Convention:
    """A range that a name implies."""

    parameter: re.Pattern[str]
    """Pattern of the parameter's whole name."""
    api: re.Pattern[str]
    """Pattern that occurs in the API's name."""
    requirement: Requirement
    sentence: str
    """The convention as a sentence."""


def _convention(parameter: str, requirement: Requirement, sentence: str, api: str) -> Convention:
    return Convention(re.compile(parameter), re.compile(api), requirement, sentence)


_PROBABILITY = interval(0.0, 1.0)
_CONVENTIONS = (
    _convention(
        r"(?:\w+_)?dropout(?:_rate|_p|_prob)?|drop_(?:rate|prob)|keep_prob",
        _PROBABILITY,
        "a share of elements to drop lies between 0 and 1",
        "",
    ),
    _convention(
        r"p|rate|prob", _PROBABILITY, "a share of elements to drop lies between 0 and 1", _DROPOUT
    ),
    _convention(
        "momentum", _PROBABILITY, "the momentum of a moving average lies in [0, 1]", _BATCH_NORM
    ),
    _convention(
        r"label_smoothing", _PROBABILITY, "the share of smoothed labels lies between 0 and 1", ""
    ),
    _convention(
        r"eps|epsilon", interval(0.0), "a term against division by zero is not negative", ""
    ),
    _convention(r"margin", interval(0.0), "a margin is not negative", ""),
    _convention(r"std|stddev", interval(0.0), "a standard deviation is not negative", ""),
    _convention(r"lr|learning_rate", interval(0.0), "a learning rate is not negative", ""),
    _convention(r"weight_decay", interval(0.0), "a weight decay is not negative", ""),
    _convention(
        r"kernel_size|pool_size|window_size|dilation|dilations|dilation_rate|rate|strides?|"
        r"upscale_factor|downscale_factor|block_size",
        interval(1),
        "the size, step or dilation of a window is at least 1",
        _WINDOWS,
    ),
    _convention(
        r"groups|num_groups|num_heads|nhead",
        interval(1),
        "the number of groups or heads is at least 1",
        "",
    ),
    _convention(
        r"padding|cropping|output_padding", interval(0), "a padding is not negative", _WINDOWS
    ),
    _convention(
        r"(?:in|out|num)_(?:channels|features)|filters|units|hidden_size|input_size|embed_dim|"
        r"(?:num_embeddings|embedding_dim|input_dim|output_dim)|num_layers",
        interval(0),
        "a number of features or layers is not negative",
        "",
    ),
)


def conventions_for(api: str, parameter: str) -> Iterator[tuple[Requirement, str]]:
    """Yield each requirement that convention states for a parameter, with its sentence."""
    for convention in _CONVENTIONS:
        if convention.parameter.fullmatch(parameter) and convention.api.search(api):
            yield convention.requirement, convention.sentence
