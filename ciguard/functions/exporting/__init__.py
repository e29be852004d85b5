"""Annotated functions as plain Hypothesis tests: files that need nothing of ciguard.

`bounds.py` reads preconditions, `strategies.py` writes the values of an argument, `functions.py`
the test of a function, `files.py` whole files.
"""

from ciguard.functions.exporting.files import exported

__all__ = ["exported"]
"""Inner package: only its own room imports it."""
