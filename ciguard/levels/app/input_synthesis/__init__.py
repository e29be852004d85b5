"""Synthesis of inputs: images, texts and sounds in which people recognise what a branch needs.

`inputs` defines the specification of an input, and `Inverse`, the protocol of its synthesis. Each
other module implements one kind of synthesis; `inverse_chain` combines those that are installed and
configured. None calls the service that it inverts. The same seed gives the same inputs. See the
Keeper paper, section 3.2.
"""

from ciguard.levels.app.input_synthesis.inputs import InputSpec

__all__ = [
    "InputSpec",
]
