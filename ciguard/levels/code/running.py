"""Statements that run a model alone, or look at what its layers meet, for each library.

Qualified names stand in them: whoever puts them into a program spells them as it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.code.dialects import FLOATS

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import Fed

_WHOLE_NUMBERS = ("int", "uint")
_FEW = 2
"""Integers are below this where nothing says below what."""


def random_input(library: str, fed: Fed) -> str:
    """Return an expression of a random tensor; of floating point it takes part in gradients."""
    return _INPUTS[library](fed)


def running(library: str, model: str, fed: Fed) -> str:
    """Return statements that run `model` forwards to `y`, and backwards where possible.

    Args:
        library: of the model.
        model: an expression that is called with the input, and with nothing else.
        fed: shape and dtype of the input, which is random.
    """
    is_float = fed.dtype in FLOATS
    return _RUNS[library].format(
        model=model,
        input=random_input(library, fed),
        watch="tape.watch(x)" if is_float else "pass",
        source="[x]" if is_float else "[]",
    )


def recorder(library: str) -> str:
    """Return statements that define `_fed` and a layer `_Seen(n)`, which keeps its first input."""
    return _RECORDERS[library]


def _torch_input(fed: Fed) -> str:
    shape, dtype = fed.shape, f"torch.{fed.dtype}"
    if fed.dtype == "bool":
        return f"torch.randint(0, 2, {shape}).bool()"
    if fed.dtype.startswith(_WHOLE_NUMBERS):
        return f"torch.randint(0, {fed.below or _FEW}, {shape}, dtype={dtype})"
    # A copy, since what needs its gradient must not itself be changed in place.
    return f"torch.randn({shape}, dtype={dtype}, requires_grad=True).clone()"


def _tensorflow_input(fed: Fed) -> str:
    shape, dtype = fed.shape, f"tensorflow.{fed.dtype}"
    if fed.dtype in FLOATS:
        return f"tensorflow.random.normal({shape}, dtype={dtype})"
    whole = (
        f"tensorflow.random.uniform({shape}, maxval={fed.below or _FEW}, dtype=tensorflow.int32)"
    )
    return f"tensorflow.cast({whole}, {dtype})"


def _jittor_input(fed: Fed) -> str:
    if fed.dtype in FLOATS:
        return f"jittor.randn({fed.shape}, dtype={fed.dtype!r})"
    return f"jittor.randint(0, {fed.below or _FEW}, {fed.shape}).cast({fed.dtype!r})"


_INPUTS = {"torch": _torch_input, "tensorflow": _tensorflow_input, "jittor": _jittor_input}

_RUNS = {
    "torch": """
x = {input}
y = {model}(x)
if y.requires_grad:
    y.sum().backward()
""",
    "tensorflow": """
x = {input}
with tensorflow.GradientTape() as tape:
    {watch}
    y = {model}(x)
    y = y[0] if isinstance(y, (list, tuple)) else y
    _total = tensorflow.reduce_sum(y)
if y.dtype.is_floating:
    tape.gradient(_total, {source} + list(tape.watched_variables()))
""",
    "jittor": """
x = {input}
y = {model}(x)
y.sync()
if str(y.dtype).startswith('float'):
    _weights = list({model}.parameters()) if hasattr({model}, 'parameters') else []
    for _gradient in jittor.grad(y.sum(), {source} + _weights):
        _gradient.sync()
""",
}

_RECORDERS = {
    "torch": """
_fed = {}
class _Seen(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
    def forward(self, x):
        _fed.setdefault(self.number, x.detach().clone())
        return x
""",
    "tensorflow": """
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
""",
    "jittor": """
_fed = {}
class _Seen(jittor.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
    def execute(self, x):
        _fed.setdefault(self.number, x.detach().clone())
        return x
""",
}
