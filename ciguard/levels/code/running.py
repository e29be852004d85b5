"""Statements that run a model alone, or record the inputs of its layers.

These statements contain qualified names, which the caller converts to the program's spelling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.code.dialects import FLOATS, dialect_of

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import BlockTensor

_INTEGER_PREFIXES = ("int", "uint")
_DEFAULT_UPPER_BOUND = 2
"""Exclusive upper bound of random integers if the form has none."""


def random_input(library: str, form: BlockTensor) -> str:
    """Return an expression that creates a random tensor; a floating-point one records gradients."""
    inputs = dialect_of(library).conventions.inputs
    if form.dtype == "bool":
        template = inputs.boolean
    elif form.dtype in FLOATS:
        template = inputs.floating
    elif form.dtype.startswith(_INTEGER_PREFIXES):
        template = inputs.whole
    else:
        template = inputs.other
    return (template or inputs.whole).format(
        shape=form.shape, dtype=form.dtype, below=form.below or _DEFAULT_UPPER_BOUND
    )


def run_statements(library: str, model: str, form: BlockTensor) -> str:
    """Return statements that assign a model's result to `y`, and backpropagate if possible.

    Args:
        library: the library of the model.
        model: an expression of the model, which is called with the input alone.
        form: the form of the input; its values are random.
    """
    is_float = form.dtype in FLOATS
    return dialect_of(library).conventions.run.format(
        model=model,
        input=random_input(library, form),
        watch="tape.watch(x)" if is_float else "pass",
        source="[x]" if is_float else "[]",
    )


def recorder_statements(library: str) -> str:
    """Return statements for a layer `_Seen(n)`, which stores its first input in `_fed[n]`."""
    return dialect_of(library).conventions.recorder
