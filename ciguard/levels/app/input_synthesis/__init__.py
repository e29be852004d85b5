"""Synthesises images, texts and sounds in which people recognise what a branch needs (Keeper, 3.2).

`inputs` has the specification of an input and the protocol `Inverse`. Each other module makes
inputs in one way; `choosing` tries those that are installed and configured. None calls the service
that it inverts, and the same seed makes the same inputs.
"""

from ciguard.levels.app.input_synthesis.inputs import InputSpec

__all__ = [
    "InputSpec",
]
