"""Statements that run a model alone, or look at what its layers meet.

Qualified names stand in them: whoever puts them into a program spells them as it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.code.dialects import FLOATS, dialect_of

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import BlockInput

_WHOLE_NUMBERS = ("int", "uint")
_FEW = 2
"""Integers are below this where nothing says below what."""


def random_input(library: str, fed: BlockInput) -> str:
    """Return an expression of a random tensor; of floating point it takes part in gradients."""
    inputs = dialect_of(library).style.inputs
    if fed.dtype == "bool":
        template = inputs.boolean
    elif fed.dtype in FLOATS:
        template = inputs.floating
    elif fed.dtype.startswith(_WHOLE_NUMBERS):
        template = inputs.whole
    else:
        template = inputs.other
    return (template or inputs.whole).format(
        shape=fed.shape, dtype=fed.dtype, below=fed.below or _FEW
    )


def running(library: str, model: str, fed: BlockInput) -> str:
    """Return statements that run `model` forwards to `y`, and backwards where possible.

    Args:
        library: of the model.
        model: an expression that is called with the input, and with nothing else.
        fed: shape and dtype of the input, which is random.
    """
    is_float = fed.dtype in FLOATS
    return dialect_of(library).style.run.format(
        model=model,
        input=random_input(library, fed),
        watch="tape.watch(x)" if is_float else "pass",
        source="[x]" if is_float else "[]",
    )


def recorder(library: str) -> str:
    """Return statements that define `_fed` and a layer `_Seen(n)`, which keeps its first input."""
    return dialect_of(library).style.recorder
