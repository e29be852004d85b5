"""The defects: what each is called, what is wrong, and which operators compute wrongly by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Defect(NamedTuple):
    """One defect of the compiler."""

    name: str
    says: str
    operators: tuple[str, ...]
    """Parts of the names of the APIs that may compute wrongly by it, the most direct one first."""


DEFECTS = (
    # Decompositions: one operator in terms of others.
    Defect(
        "softmax-max", "softmax takes a share of the maximum off afterwards", ("softmax", "softmin")
    ),
    Defect("log-softmax-sum", "log_softmax forgets the logarithm", ("log_softmax", "logsoftmax")),
    Defect("gelu-tanh", "gelu takes the tanh form always", ("gelu",)),
    Defect("silu-square", "silu multiplies by sigmoid of the square", ("silu", "swish")),
    Defect(
        "hardtanh-limit", "hardtanh ignores the lower limit", ("hardtanh", "relu6", "hardswish")
    ),
    Defect("leaky-slope", "leaky_relu squares the slope", ("leaky_relu", "leakyrelu", "rrelu")),
    Defect("elu-scale", "elu ignores scale and alpha", ("elu", "selu", "celu")),
    Defect("addmm-beta", "addmm ignores beta", ("addmm", "sspaddmm", "addmv")),
    Defect("addcmul-value", "addcmul ignores value", ("addcmul",)),
    Defect("addcdiv-sign", "addcdiv subtracts", ("addcdiv",)),
    Defect("lerp-weight", "lerp swaps start and end", ("lerp",)),
    Defect("clamp-min", "clamp ignores the minimum", ("clamp", "clip", "relu")),
    Defect("var-correction", "var divides by n always", ("var", "std", "norm")),
    Defect(
        "flip-last", "flip leaves out the last dimension", ("flip", "fliplr", "flipud", "rot90")
    ),
    Defect("roll-sign", "roll shifts the other way", ("roll",)),
    Defect("tril-diagonal", "tril is off by one diagonal", ("tril",)),
    Defect("triu-diagonal", "triu is off by one diagonal", ("triu",)),
    Defect("pad-sides", "constant padding swaps the sides", ("pad",)),
    Defect("logaddexp-scale", "logaddexp weighs the second number more", ("logaddexp",)),
    # Lowerings: one operator as a loop.
    Defect("sigmoid-sign", "sigmoid of a negative number is one less", ("sigmoid",)),
    Defect("sum-identity", "sums begin with 1", ("sum", "mean", "norm", "loss", "trace", "var")),
    Defect("mean-scale", "means are 0.1 % too large", ("mean", "loss", "norm", "var", "std")),
    Defect(
        "amax-zero", "maxima of negative numbers are 0", ("amax", "max", "softmax", "logsumexp")
    ),
    Defect("where-swapped", "where swaps its branches", ("where", "masked_fill")),
    Defect(
        "slice-off-by-one",
        "slices begin one later",
        ("narrow", "slice", "split", "chunk", "getitem"),
    ),
    Defect("select-next", "select takes the next index", ("select", "unbind")),
    Defect("cat-order", "two tensors are joined in the other order", ("cat", "stack", "concat")),
    Defect("floor-trunc", "floor truncates", ("floor",)),
    Defect("round-away", "halves are rounded away from zero", ("round",)),
    Defect("cast-floor", "casts to integers round negatives down", ("int", "long", "to")),
)
"""All defects."""


def defect_named_by(api: str, planted: Sequence[Defect]) -> str:
    """Return the name of the defect that the name of a wrong API points to; empty if none.

    That is the one with the longest operator in the name, and of several, the one whose own
    operator it is: a mean that is too large is in `mean` rather than a sum that begins with 1.
    """
    name = api.rpartition(".")[2].lower()
    named = [
        (len(operator), -place, defect.name)
        for defect in planted
        for place, operator in enumerate(defect.operators)
        if operator in name
    ]
    return max(named)[2] if named else ""
