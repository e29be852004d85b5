"""The defects: what each is called, which layer and parameter it is about, which run plants it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What is wrong with a layer."""

    CHECK = "missing check"
    """A value of one parameter that the documentation forbids is taken for a legal one."""
    LEGAL = "legal value refused"
    """A legal value of one parameter ends in an exception, wherever the layer stands."""
    PROGRAM = "fails in a program"
    """The layer runs once, alone; what a program does with it besides ends in an exception."""
    FORM = "wrong shape or type"
    """One argument is ignored, or the layer computes in another type: the values alone would not
    show, since programs are compared by shapes and types."""
    PROMISE = "broken promise"
    """One sample, which the documentation says a layer takes too, or a default that the signature
    has, ends in an exception."""
    LEAK = "leak"
    """Each layer that is built, or each call of it, keeps memory or takes longer than the last."""


class Defect(NamedTuple):
    """One defect of one layer."""

    name: str
    kind: Kind
    layer: str
    """Class in `torch.nn`."""
    says: str
    parameter: str = ""
    """That it is about; empty: about the layer, whatever it is given."""


class Group(NamedTuple):
    """Defects that are planted together."""

    name: str
    is_beside: bool
    """Whether torch as it is stands beside it: what it takes to see them."""
    programs: tuple[str, ...]
    """Seed programs in which such layers occur, or stand in for others."""
    defects: tuple[Defect, ...]


_SEEDS = ("lenet", "pointnet", "lstm")

GROUPS = (
    Group(
        "checks",
        False,  # noqa: FBT003 - named in the class
        _SEEDS,
        (
            Defect("conv2d-mode", Kind.CHECK, "Conv2d", "any text pads zeros", "padding_mode"),
            Defect("conv1d-mode", Kind.CHECK, "Conv1d", "any text pads zeros", "padding_mode"),
            Defect("transpose1d", Kind.CHECK, "ConvTranspose1d", "any text goes", "padding_mode"),
            Defect("transpose2d", Kind.CHECK, "ConvTranspose2d", "any text goes", "padding_mode"),
            Defect("lazy-mode", Kind.CHECK, "LazyConv2d", "any text pads zeros", "padding_mode"),
            Defect("pool-kernel", Kind.CHECK, "MaxPool1d", "0 and less is 1", "kernel_size"),
            Defect("pool-stride", Kind.CHECK, "MaxPool1d", "0 and less is 1", "stride"),
            Defect("pool-padding", Kind.CHECK, "MaxPool1d", "less than 0 is 0", "padding"),
            Defect("pool-dilation", Kind.CHECK, "MaxPool1d", "0 and less is 1", "dilation"),
            Defect("cell-text", Kind.CHECK, "RNNCell", "any text is 'tanh'", "nonlinearity"),
            Defect("encoder", Kind.CHECK, "TransformerEncoderLayer", "any text goes", "activation"),
        ),
    ),
    Group(
        "programs",
        False,  # noqa: FBT003 - named in the class
        (*_SEEDS, "alexnet"),
        (
            Defect("elu-second-call", Kind.PROGRAM, "ELU", "is called once only"),
            Defect("norm-evaluation", Kind.PROGRAM, "InstanceNorm1d", "fails in evaluation"),
            Defect("tanh-no-grad", Kind.PROGRAM, "Hardtanh", "fails without gradients"),
            Defect("leaky-evaluation", Kind.PROGRAM, "LeakyReLU", "cannot be put in evaluation"),
            Defect("silu-third-pass", Kind.PROGRAM, "SiLU", "the third backward pass fails"),
            Defect("threshold-shape", Kind.PROGRAM, "Threshold", "takes one shape, ever"),
            Defect("conv1d-sample", Kind.PROMISE, "Conv1d", "takes batches only"),
            Defect("conv2d-sample", Kind.PROMISE, "Conv2d", "takes batches only"),
            Defect("average-none", Kind.PROMISE, "AvgPool2d", "needs its stride", "stride"),
            Defect("relu6-built", Kind.LEAK, "ReLU6", "each one built keeps memory"),
            Defect("hardswish-called", Kind.LEAK, "Hardswish", "each call keeps memory"),
            Defect("mish-trained", Kind.LEAK, "Mish", "each gradient keeps memory"),
            Defect("celu-slower", Kind.LEAK, "CELU", "each one built slows the next calls"),
        ),
    ),
    Group(
        "values",
        True,  # noqa: FBT003 - named in the class
        _SEEDS,
        (
            Defect("average-ceil", Kind.LEGAL, "AvgPool2d", "refuses to round up", "ceil_mode"),
            Defect("conv1d-dilation", Kind.LEGAL, "Conv1d", "refuses dilation", "dilation"),
            Defect("conv2d-circular", Kind.LEGAL, "Conv2d", "refuses 'circular'", "padding_mode"),
            Defect("linear-bias", Kind.LEGAL, "Linear", "cannot do without bias", "bias"),
            Defect("norm-affine", Kind.LEGAL, "BatchNorm1d", "needs its weight", "affine"),
            Defect("norm-momentum", Kind.LEGAL, "BatchNorm1d", "None is no number", "momentum"),
            Defect("dropout-much", Kind.LEGAL, "Dropout", "refuses more than a half", "p"),
            Defect("average-padding", Kind.FORM, "AvgPool2d", "ignores it", "padding"),
            Defect("conv1d-stride", Kind.FORM, "Conv1d", "ignores it", "stride"),
            Defect("transpose-padding", Kind.FORM, "ConvTranspose2d", "ignores it", "padding"),
            Defect("sigmoid-type", Kind.FORM, "Hardsigmoid", "gives float64"),
            Defect("group-batch", Kind.PROGRAM, "GroupNorm", "takes one size of batch, ever"),
        ),
    ),
)
"""No two defects of a group are of one layer and one parameter, or of one layer and one kind with
one exception."""
DEFECTS = tuple(defect for group in GROUPS for defect in group.defects)
