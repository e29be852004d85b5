"""How a layer is called where one tensor is at hand: with it, with it again and again, in a list.

What the libraries' documentation says of the arguments of such layers; how many of them there are
is in their records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain import CallKind, LiteralValue
from ciguard.levels.code.knowledge import data_of
from ciguard.levels.code.uses import PLAIN
from ciguard.values import OneOf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.knowledge import Api
    from ciguard.levels.code.blocks import LibraryCall

_FIRST = "[0]"
"""Of what a layer gives: the other parts are states, or weights of attention."""
_KERAS = "tensorflow.keras"
_ROOTS = {"keras": _KERAS, "tensorflow": _KERAS}
"""Library of the ways below, by the first part of a name that is not the library's own."""
_REDUCTION, _NONE = "reduction", "none"
_WHOLE = {_REDUCTION: repr(_NONE)}


@dataclass(frozen=True, slots=True)
class Way:
    """How some layers of a library are called."""

    library: str
    layers: str
    """Pattern of the names of the classes, without their module."""
    use: str = ""
    """An expression of the layer `f` and the data `x`; empty: with `x` for each required input."""
    rank: int = 0
    """Of the data, the batch included; 0: any that the name does not exclude."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Arguments that the layer is made with, as text by parameter: those that the use needs."""


_CELLS = r"(GRU|RNN)Cell"
_UNPOOLED = "x.flatten(2).argsort(-1)"
_POSITIVE = "(x > 0)"
"""Zeros and ones: the classes, or words, of a layer that knows two."""
_STEPS = "x[:, :16]"
_ROW = "x.flatten(1)[:, :x.shape[-1]]"
"""The features of one place of each sample, for a layer that takes vectors only."""
_UNITS = "8"
_STATE = f"x[:, :{_UNITS}]"
_CTC = (
    "f(x.transpose(0, 1).log_softmax(2), torch.ones(len(x), 1, dtype=torch.long), "
    "[x.shape[1]] * len(x), [1] * len(x))"
)
_WAYS = (
    # Targets that are classes are the largest entry of each sample; probabilities lie in [0, 1].
    Way("torch", "NLLLoss", "f(x.log_softmax(1), x.argmax(1))"),
    Way("torch", "MultiMarginLoss", "f(x, x.argmax(1))", 2),
    Way("torch", "MultiLabelMarginLoss", "f(x, x.argsort(1))", 2),
    Way("torch", "LinearCrossEntropyLoss", f"f(x, {_POSITIVE}.any(-1).long())", 2),
    Way("torch", "BCELoss", "f(x.sigmoid(), x.sigmoid())"),
    Way("torch", "KLDivLoss", "f(x.log_softmax(1), x.softmax(1))", given=_WHOLE),
    Way("torch", "GaussianNLLLoss", "f(x, x, x.exp())"),
    Way("torch", "SoftMarginLoss", "f(x, x.detach().sign())"),
    Way("torch", "CosineEmbeddingLoss", "f(x, x, x[:, 0].sign())", 2),
    Way("torch", "CTCLoss", _CTC, 3),
    Way("torch", "AdaptiveLogSoftmaxWithLoss", f"f(x, {_POSITIVE}.any(1).long())[0]", 2),
    Way("torch", r"MaxUnpool[123]d", f"f(x, {_UNPOOLED}.view_as(x))"),
    Way("torch", r"Embedding(Bag)?", f"f({_POSITIVE}.long())", 2, {"num_embeddings": "2"}),
    # Attention takes the square of the steps in memory, and images are of many.
    Way("torch", "MultiheadAttention", f"f({_STEPS}, {_STEPS}, {_STEPS}){_FIRST}", 3),
    Way("torch", r"Transformer(Decoder(Layer)?)?", f"f({_STEPS}, {_STEPS})", 3),
    Way("torch", r"TransformerEncoder(Layer)?", rank=3),
    Way("torch", r"LSTM|GRU|RNN", f"f(x){_FIRST}", 3),
    Way("torch", _CELLS, rank=2),
    Way("torch", "LSTMCell", f"f(x){_FIRST}", 2),
    Way(_KERAS, r"Add|Average|Concatenate|Maximum|Minimum|Multiply|Subtract", "f([x, x])"),
    Way(_KERAS, "Dot", "f([x, x])", 2),
    Way(_KERAS, r"(Additive)?Attention", f"f([{_STEPS}, {_STEPS}])", 3),
    Way(_KERAS, r"(MultiHead|Group(ed)?Query)Attention", f"f({_STEPS}, {_STEPS})", 3),
    Way(_KERAS, "ConvLSTM1D", rank=4),
    Way(_KERAS, "ConvLSTM2D", rank=5),
    Way(_KERAS, "ConvLSTM3D", rank=6),
    Way(_KERAS, "(Reversible)?Embedding", f"f({_POSITIVE})", 2, {"input_dim": "2"}),
    Way(_KERAS, r"(GRU|SimpleRNN)Cell", f"f(x, [{_STATE}]){_FIRST}", 2, {"units": _UNITS}),
    Way(_KERAS, "LSTMCell", f"f(x, [{_STATE}, {_STATE}]){_FIRST}", 2, {"units": _UNITS}),
    # Losses of Jittor are numbers; the slot gets as many of them as it has entries.
    Way("jittor", r"(L1|MSE|BCEWithLogits)Loss", "f(x, x).broadcast(x)"),
    Way("jittor", "BCELoss", "f(x.sigmoid(), x.sigmoid()).broadcast(x)"),
    Way("jittor", "CrossEntropyLoss", "f(x, x.argmax(1)[0]).broadcast(x)"),
    Way("jittor", "KLDivLoss", "f(x.log_softmax(1), x.softmax(1))"),
    Way("jittor", "Bilinear", f"f({_ROW}, {_ROW})"),
    Way("jittor", r"MaxUnpool[23]d", f"f(x, {_UNPOOLED}[0].reshape(x.shape))"),
    Way("jittor", "Embedding", f"f({_POSITIVE}.int32())", 2, {"num_embeddings": "2"}),
    Way("jittor", r"LSTM|GRU|RNN", f"f(x){_FIRST}", 3),
    Way("jittor", _CELLS, rank=2),
    Way("jittor", "LSTMCell", f"f(x){_FIRST}", 2),
)


def use_of(api: Api) -> str:
    """Return how a layer of an API is called with one tensor.

    An expression of the layer `f` and the tensor `x`; nothing for a function, which is called with
    its arguments at once.
    """
    if api.record.kind is not CallKind.LAYER:
        return ""
    way = _way_of(api.record.api)
    given = ", ".join("x" for _ in data_of(api)) or "x"
    return (way and way.use) or f"f({given})"


def used(call: LibraryCall, own: Api, other: Api) -> str | None:
    """Return how the layer that takes the place of a call's is called.

    Args:
        call: whose API is replaced.
        own: that API.
        other: the one in its place.

    Returns:
        None where the program calls its layer in a way that does not suit, and cannot be changed.
    """
    before, after = use_of(own), use_of(other)
    if before == after:
        return call.use
    if call.use != PLAIN or before.removesuffix(_FIRST) != PLAIN:
        return None
    if before == PLAIN:
        return after
    # The program takes what is first itself.
    return after.removesuffix(_FIRST) if after.endswith(_FIRST) else None


def rank_of(api: str) -> int | None:
    """Return the rank of the data that a layer is called with; None: any that its name allows."""
    way = _way_of(api)
    return way.rank or None if way is not None else None


def made_with(api: Api) -> dict[str, str]:
    """Return the arguments that a layer is made with so that it can be called as `use_of` says.

    Text by parameter: a loss that can gives as many numbers as it takes.
    """
    if api.record.kind is not CallKind.LAYER:
        return {}
    way = _way_of(api.record.api)
    known = {parameter.name: parameter.constraint for parameter in api.parameters}
    given = {} if way is None else {k: text for k, text in way.given.items() if k in known}
    match known.get(_REDUCTION):
        case OneOf(values) if LiteralValue(_NONE) in values:
            return {**given, **_WHOLE}
        case _:
            return given


@cache
def _way_of(api: str) -> Way | None:
    root, _, rest = api.partition(".")
    library = _ROOTS.get(root, root)
    name = rest.rpartition(".")[2]
    return next(
        (way for way in _WAYS if way.library == library and re.fullmatch(way.layers, name)), None
    )
