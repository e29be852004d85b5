"""Solves the preconditions of a call for one argument: which values they and the annotation leave.

The steps are:

1. `resolving` replaces references to other arguments by numbers. It evaluates `expressions` on
   `views` of drawn values.
2. `alternatives` splits a constraint into kinds with ranges (`intervals`).
3. `box` narrows the ranges by the preconditions, with `quantities`, `ranges` and `congruences`.
4. `narrowing` turns the result into a constraint again, and `constraints` into one of
   `ciguard.values`.
"""
