"""Whole calls with valid arguments, from Hypothesis or from a seeded generator.

`plan` says which argument is drawn when, `values` draws one, `calls` all of them.
"""

from ciguard.functions.drawing.calls import call_sampler

__all__ = [
    "call_sampler",
]
