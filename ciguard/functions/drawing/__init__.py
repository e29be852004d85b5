"""Draws whole calls with valid arguments, with Hypothesis or from a seeded generator.

`plan` orders the arguments, `values` draws one argument, `calls` draws a whole call.
"""

from ciguard.functions.drawing.calls import call_sampler

__all__ = [
    "call_sampler",
]
