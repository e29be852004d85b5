"""Statements that run a model alone, or record the inputs of its layers.

They contain qualified names, which the caller converts to the program's spelling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.code.dialects import FLOATS, dialect_of

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import BlockInput

_INTEGER_PREFIXES = ("int", "uint")
_DEFAULT_UPPER_BOUND = 2
"""Exclusive upper bound of integers whose bound is unknown."""


def random_input(library: str, fed: BlockInput) -> str:
    """Return an expression of a random tensor; floating-point ones record gradients."""
    inputs = dialect_of(library).style.inputs
    if fed.dtype == "bool":
        template = inputs.boolean
    elif fed.dtype in FLOATS:
        template = inputs.floating
    elif fed.dtype.startswith(_INTEGER_PREFIXES):
        template = inputs.whole
    else:
        template = inputs.other
    return (template or inputs.whole).format(
        shape=fed.shape, dtype=fed.dtype, below=fed.below or _DEFAULT_UPPER_BOUND
    )


def running(library: str, model: str, fed: BlockInput) -> str:
    """Return statements that run `model` forwards to `y`, and backwards if possible.

    Args:
        library: the library of the model.
        model: an expression that is called with the input only.
        fed: the form of the input, whose values are random.
    """
    is_float = fed.dtype in FLOATS
    return dialect_of(library).style.run.format(
        model=model,
        input=random_input(library, fed),
        watch="tape.watch(x)" if is_float else "pass",
        source="[x]" if is_float else "[]",
    )


def recorder(library: str) -> str:
    """Return statements that define `_fed` and a layer `_Seen(n)` that records its first input."""
    return dialect_of(library).style.recorder
