"""Templates of programs that build and run models with Jittor."""

from __future__ import annotations

from ciguard.libraries.programs import InputExpressions, ProgramStyle, Way

_FIRST = "[0]"
"""Index of the output in a layer's result; the other items are states."""
_CELLS = r"(GRU|RNN)Cell"
_UNPOOLED = "x.flatten(2).argsort(-1)"
_POSITIVE = "(x > 0)"
"""Expression of zeros and ones: indices for an embedding with two entries."""
_ROW = "x.flatten(1)[:, :x.shape[-1]]"
"""Expression of the features at one position of each sample, for layers that accept vectors."""

_RUN = """
x = {input}
y = {model}(x)
y.sync()
if str(y.dtype).startswith('float'):
    _weights = list({model}.parameters()) if hasattr({model}, 'parameters') else []
    for _gradient in jittor.grad(y.sum(), {source} + _weights):
        _gradient.sync()
"""
_RECORDER = """
_fed = {}
class _Seen(jittor.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
    def execute(self, x):
        _fed.setdefault(self.number, x.detach().clone())
        return x
"""

PROGRAMS = ProgramStyle(
    roots=("jittor",),
    forward="execute",
    bases=("Module", "Model"),
    lists_functions=True,
    method_layers="jittor.nn",
    flattened="x.flatten(1)",
    reshaped="x.reshape({shape})",
    from_numbers="x.reshape({shape})",
    as_float="x.float32()",
    inputs=InputExpressions(
        floating="jittor.randn({shape}, dtype='{dtype}')",
        whole="jittor.randint(0, {below}, {shape}).cast('{dtype}')",
    ),
    run=_RUN,
    recorder=_RECORDER,
    ways=(
        # Losses of Jittor are scalars, so they are broadcast to the shape of the input.
        Way(r"(L1|MSE|BCEWithLogits)Loss", "f(x, x).broadcast(x)"),
        Way("BCELoss", "f(x.sigmoid(), x.sigmoid()).broadcast(x)"),
        Way("CrossEntropyLoss", "f(x, x.argmax(1)[0]).broadcast(x)"),
        Way("KLDivLoss", "f(x.log_softmax(1), x.softmax(1))"),
        Way("Bilinear", f"f({_ROW}, {_ROW})"),
        Way(r"MaxUnpool[23]d", f"f(x, {_UNPOOLED}[0].reshape(x.shape))"),
        Way("Embedding", f"f({_POSITIVE}.int32())", 2, {"num_embeddings": "2"}),
        Way(r"LSTM|GRU|RNN", f"f(x){_FIRST}", 3),
        Way(_CELLS, rank=2),
        Way("LSTMCell", f"f(x){_FIRST}", 2),
    ),
)
