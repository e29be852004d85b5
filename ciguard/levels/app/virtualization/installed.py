"""What is installed here of what engines need."""

from __future__ import annotations

import shutil
from importlib.util import find_spec


def are_installed(*modules: str, program: str = "") -> bool:
    """Return whether modules can be imported, and a program be run, without doing so.

    Args:
        modules: top-level ones.
        program: that they run; empty for none.
    """
    return all(find_spec(one) for one in modules) and (not program or bool(shutil.which(program)))
