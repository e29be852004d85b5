"""The stages of a run, one module each, and their helpers.

`stage` defines the common interface, and `sequence` the order of the stages.
"""
