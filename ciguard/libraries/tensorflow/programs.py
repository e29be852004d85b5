"""Templates of programs that build and run models with TensorFlow's Keras."""

from __future__ import annotations

from ciguard.libraries.programs import InputExpressions, ProgramStyle, Way

_FIRST = "[0]"
"""Index of the output in a layer's result; the other items are states."""
_POSITIVE = "(x > 0)"
"""Expression of zeros and ones: indices for an embedding with two entries."""
_STEPS = "x[:, :16]"
_UNITS = "8"
_STATE = f"x[:, :{_UNITS}]"

_RUN = """
x = {input}
with tensorflow.GradientTape() as tape:
    {watch}
    y = {model}(x)
    y = y[0] if isinstance(y, (list, tuple)) else y
    _total = tensorflow.reduce_sum(y)
if y.dtype.is_floating:
    tape.gradient(_total, {source} + list(tape.watched_variables()))
"""
_RECORDER = """
tensorflow.config.run_functions_eagerly(True)
_fed = {}
class _Seen(tensorflow.keras.layers.Layer):
    def __init__(self, number):
        super().__init__(autocast=False)
        self.number = number
    def call(self, x):
        if hasattr(x, 'numpy') and self.number not in _fed:
            _fed[self.number] = tensorflow.identity(x)
        return x
"""

PROGRAMS = ProgramStyle(
    roots=("tensorflow", "keras"),
    forward="call",
    bases=("Model", "Layer"),
    infers_sizes=True,
    channels_last=True,
    flattened="tensorflow.keras.layers.Flatten()(x)",
    reshaped="tensorflow.keras.layers.Reshape({sizes})(x)",
    as_float="tensorflow.keras.layers.Rescaling(1.0)(x)",
    inputs=InputExpressions(
        floating="tensorflow.random.normal({shape}, dtype=tensorflow.{dtype})",
        whole=(
            "tensorflow.cast(tensorflow.random.uniform({shape}, maxval={below}, "
            "dtype=tensorflow.int32), tensorflow.{dtype})"
        ),
    ),
    run=_RUN,
    recorder=_RECORDER,
    ways=(
        Way(r"Add|Average|Concatenate|Maximum|Minimum|Multiply|Subtract", "f([x, x])"),
        Way("Dot", "f([x, x])", 2),
        Way(r"(Additive)?Attention", f"f([{_STEPS}, {_STEPS}])", 3),
        Way(r"(MultiHead|Group(ed)?Query)Attention", f"f({_STEPS}, {_STEPS})", 3),
        Way("ConvLSTM1D", rank=4),
        Way("ConvLSTM2D", rank=5),
        Way("ConvLSTM3D", rank=6),
        Way("(Reversible)?Embedding", f"f({_POSITIVE})", 2, {"input_dim": "2"}),
        Way(r"(GRU|SimpleRNN)Cell", f"f(x, [{_STATE}]){_FIRST}", 2, {"units": _UNITS}),
        Way("LSTMCell", f"f(x, [{_STATE}, {_STATE}]){_FIRST}", 2, {"units": _UNITS}),
    ),
)
