"""Makes images, texts and sounds in which people recognise what a branch needs (Keeper, 3.2).

`inputs` says what is wanted and what an `Inverse` is; each other module makes inputs in one way,
and `choosing` tries those that are installed and configured. None asks the service whose inverse it
is, and the same seed makes the same inputs.
"""

from ciguard.levels.app.input_synthesis.inputs import InputSpec

__all__ = [
    "InputSpec",
]
