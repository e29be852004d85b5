"""The stages of a run, one module each, and what they need for it.

`stage` has what they have in common, `sequence` the list that a run goes through.
"""
