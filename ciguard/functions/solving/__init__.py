"""Finds the values of one argument that its annotation and the preconditions of a call allow.

The steps are:

1. `resolving` replaces references to other arguments by numbers. It evaluates `expressions` on
   `views` of drawn values.
2. `alternatives` splits a constraint into kinds with ranges (`intervals`).
3. `box` narrows the ranges by the preconditions, with `quantities`, `ranges` and `congruences`.
4. `narrowing` restricts the constraint to the narrowed ranges, and `constraints` converts it to a
   constraint of `ciguard.values`.
"""
