"""The defects: what each is called, in which layers it shows, which run plants it."""

from __future__ import annotations

from typing import NamedTuple


class Defect(NamedTuple):
    """One defect of one layer, or of one function that layers call."""

    name: str
    says: str
    layers: tuple[str, ...] = ()
    """Classes in `keras.layers` that compute wrongly by it, wherever they are wrapped."""
    activation: str = ""
    """Any layer computes wrongly by it that has this activation."""


GROUPS: tuple[tuple[Defect, ...], ...] = (
    (
        Defect("batch-epsilon", "epsilon is ten times as large", ("BatchNormalization",)),
        Defect("conv2d-same", "even kernels are padded on the wrong side", ("Conv2D",)),
        Defect("lstm-transposed", "the recurrent kernel is transposed", ("LSTM",)),
        Defect("average-border", "padding counts at the border", ("AveragePooling2D",)),
        Defect("selu-is-elu", "selu computes elu", (), "selu"),
        Defect("layer-norm-axis", "normalises the axis before", ("LayerNormalization",)),
        Defect("upsampling-swapped", "nearest is bilinear and back", ("UpSampling2D",)),
        Defect("both-ways-order", "concat puts the way back first", ("Bidirectional",)),
        Defect("embedding-shift", "looks up the next row", ("Embedding",)),
        Defect("save-slope", "get_config drops negative_slope", ("LeakyReLU",)),
        Defect("subtract-gradient", "no gradient for the second input", ("Subtract",)),
        Defect("pool-rounds-up", "odd heights give one row more", ("MaxPooling2D",)),
    ),
    (
        Defect("softmax-overflow", "the maximum is not taken off: NaN", ("Softmax",)),
        Defect("conv1d-dilation", "dilation is ignored", ("Conv1D",)),
        Defect("gru-go-backwards", "go_backwards is ignored", ("GRU",)),
        Defect("max-border", "padding counts as zero", ("MaxPooling1D",)),
        Defect("gelu-exact", "the approximation is computed exactly", (), "gelu"),
        Defect("attention-scale", "scores are not scaled", ("MultiHeadAttention",)),
        Defect("separable-transposed", "pointwise kernel transposed", ("SeparableConv2D",)),
        Defect("prelu-sign", "the slope has the other sign", ("PReLU",)),
        Defect("cropping-swapped", "left and right change places", ("Cropping2D",)),
        Defect("global-max-negative", "negative maxima become 0", ("GlobalMaxPooling2D",)),
        Defect("unit-norm-gradient", "the norm is taken as constant", ("UnitNormalization",)),
        Defect("rms-half", "squares are computed in float16", ("RMSNormalization",)),
        Defect("group-norm-crash", "aborts on sequences", ("GroupNormalization",)),
    ),
    (
        Defect("depthwise-stride", "strides of 2 begin one later", ("DepthwiseConv2D",)),
        Defect("transpose-crop", "even kernels are cut on the other side", ("Conv2DTranspose",)),
        Defect("simple-rnn-bias", "the bias is left out of every step", ("SimpleRNN",)),
        Defect("padding-swapped", "top and bottom change places", ("ZeroPadding2D",)),
        Defect("conv-lstm-gate", "gates are hard sigmoids", ("ConvLSTM1D",)),
        Defect("concatenate-order", "the first input comes last", ("Concatenate",)),
        Defect("dot-normalize", "normalize is ignored", ("Dot",)),
        Defect("elu-alpha", "alpha is ignored", ("ELU",)),
        Defect("permute-refused", "refuses four dimensions", ("Permute",)),
        Defect("rescaling-dtype", "gives float64", ("Rescaling",)),
        Defect("minimum-nan", "zero minima become NaN", ("Minimum",)),
        Defect("repeat-short", "repeats three times for four", ("RepeatVector",)),
    ),
    # Whoever waits for one that hangs has no time for the others.
    (Defect("masking-hang", "hangs for more than one feature", ("Masking",)),),
)
"""Defects of one group are planted together: they are of different layers, and none keeps a model
from reaching another too often."""
DEFECTS = tuple(defect for group in GROUPS for defect in group)
