"""Calls and tests as source text that people read and keep.

`call_source` writes calls and scripts. The rest writes plain Hypothesis tests that need nothing of
ciguard: `bounds` reads preconditions, `strategies` writes the values of an argument, `tests` the
test of a function, `files` whole files.
"""
