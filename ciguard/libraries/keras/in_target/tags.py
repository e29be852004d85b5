"""Tags of Keras's APIs, including the Keras in TensorFlow."""

from __future__ import annotations

from ciguard.libraries.in_target.tag_names import (
    CALLBACK,
    FILES,
    GLOBAL_STATE,
    NETWORK,
    RANDOM,
    UNSTABLE,
    TagRow,
)
from ciguard.libraries.in_target.tags import tagger

_KERAS = r"^(?:keras|tensorflow\.keras)\."

ROWS = (
    TagRow(
        FILES,
        _KERAS,
        "files and downloads",
        (
            r"(?:\w+\.)*(?:saving|datasets|callbacks|preprocessing|applications|wrappers)\.",
            r"(?:\w+\.)*utils\.",
            r"export\.",
            r"tree\.",
            r"visualization\.",
        ),
    ),
    TagRow(NETWORK, _KERAS, "connections", (r"distribution\.", r"remat\.")),
    TagRow(
        CALLBACK,
        _KERAS,
        "take Python functions or layers",
        (
            r"ops\.(?:map|scan|associative_scan|cond|while_loop|fori_loop|vectorized_map|switch|vectorize|custom_gradient|jit)$",
            r"layers\.(?:TFSMLayer|TorchModuleWrapper|JaxLayer|FlaxLayer|Lambda|Wrapper|RNN|Bidirectional|TimeDistributed|MelSpectrogram)$",
        ),
    ),
    TagRow(
        GLOBAL_STATE,
        _KERAS,
        "settings of the process",
        (
            r"config\.",
            r"backend\.",
            r"mixed_precision\.",
            r"dtype_policies\.",
            r"(?:\w+\.)*(?:set|enable|disable|register|clear)_\w+$",
        ),
    ),
    TagRow(
        RANDOM,
        _KERAS,
        "draw from a generator",
        (
            r"random\.",
            r"(?:\w+\.)*(?:Random|random)\w*$",
            r"(?:\w+\.)*\w*[dD]ropout\w*$",
            r"(?:\w+\.)*Gaussian(?:Noise|Dropout)",
            r"initializers\.(?:Glorot|He|Lecun|LeCun|Orthogonal|Truncated|VarianceScaling)\w*",
            r"layers\.(?:Aug|Rand|CutMix|MixUp|Rand|AutoContrast|Mosaic)\w*",
            r"(?:\w+\.)*(?:shuffle|MultiHeadAttention|GroupQueryAttention)$",
        ),
    ),
    TagRow(UNSTABLE, _KERAS, "uninitialised memory", (r"ops\.empty\w*$",)),
)

tags_of = tagger(*ROWS)
