"""Draws whole calls with valid arguments, with Hypothesis or from a seeded generator.

`plan` orders the arguments, `values` draws one of them, `calls` draws all.
"""

from ciguard.functions.drawing.calls import call_sampler

__all__ = [
    "call_sampler",
]
