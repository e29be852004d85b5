"""Templates of programs that build and run models with PyTorch."""

from __future__ import annotations

from ciguard.libraries.programs import InputExpressions, ProgramStyle, Way

_FIRST = "[0]"
"""Index of the output in a layer's result; the other items are states or attention weights."""
_CELLS = r"(GRU|RNN)Cell"
_UNPOOLED = "x.flatten(2).argsort(-1)"
_POSITIVE = "(x > 0)"
"""Expression of zeros and ones: indices for a layer with two classes or words."""
_STEPS = "x[:, :16]"
_WHOLE = {"reduction": "'none'"}
_CTC = (
    "f(x.transpose(0, 1).log_softmax(2), torch.ones(len(x), 1, dtype=torch.long), "
    "[x.shape[1]] * len(x), [1] * len(x))"
)
# A copy, since a leaf tensor that requires gradients must not be changed in place.
_NORMAL = "torch.randn({shape}, dtype=torch.{dtype}, requires_grad=True).clone()"

_RUN = """
x = {input}
y = {model}(x)
if y.requires_grad:
    y.sum().backward()
"""
_RECORDER = """
_fed = {}
class _Seen(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
    def forward(self, x):
        _fed.setdefault(self.number, x.detach().clone())
        return x
"""

PROGRAMS = ProgramStyle(
    roots=("torch",),
    forward="forward",
    bases=("Module",),
    method_layers="torch.nn",
    flattened="x.flatten(1)",
    reshaped="x.flatten(1).unflatten(1, {sizes})",
    from_numbers="x.unflatten(0, {shape})",
    as_float="x.float()",
    inputs=InputExpressions(
        floating=_NORMAL,
        whole="torch.randint(0, {below}, {shape}, dtype=torch.{dtype})",
        boolean="torch.randint(0, 2, {shape}).bool()",
        other=_NORMAL,
    ),
    run=_RUN,
    recorder=_RECORDER,
    ways=(
        # The class of a sample is the index of its largest entry; probabilities are in [0, 1].
        Way("NLLLoss", "f(x.log_softmax(1), x.argmax(1))"),
        Way("MultiMarginLoss", "f(x, x.argmax(1))", 2),
        Way("MultiLabelMarginLoss", "f(x, x.argsort(1))", 2),
        Way("LinearCrossEntropyLoss", f"f(x, {_POSITIVE}.any(-1).long())", 2),
        Way("BCELoss", "f(x.sigmoid(), x.sigmoid())"),
        Way("KLDivLoss", "f(x.log_softmax(1), x.softmax(1))", given=_WHOLE),
        Way("GaussianNLLLoss", "f(x, x, x.exp())"),
        Way("SoftMarginLoss", "f(x, x.detach().sign())"),
        Way("CosineEmbeddingLoss", "f(x, x, x[:, 0].sign())", 2),
        Way("CTCLoss", _CTC, 3),
        Way("AdaptiveLogSoftmaxWithLoss", f"f(x, {_POSITIVE}.any(1).long())[0]", 2),
        Way(r"MaxUnpool[123]d", f"f(x, {_UNPOOLED}.view_as(x))"),
        Way(r"Embedding(Bag)?", f"f({_POSITIVE}.long())", 2, {"num_embeddings": "2"}),
        # The memory of attention is quadratic in the number of steps, which is large for images.
        Way("MultiheadAttention", f"f({_STEPS}, {_STEPS}, {_STEPS}){_FIRST}", 3),
        Way(r"Transformer(Decoder(Layer)?)?", f"f({_STEPS}, {_STEPS})", 3),
        Way(r"TransformerEncoder(Layer)?", rank=3),
        Way(r"LSTM|GRU|RNN", f"f(x){_FIRST}", 3),
        Way(_CELLS, rank=2),
        Way("LSTMCell", f"f(x){_FIRST}", 2),
    ),
)
