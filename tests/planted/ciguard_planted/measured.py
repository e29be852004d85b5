"""Measures the workers of ciguard under `make coverage`, without a word of it in ciguard."""

from __future__ import annotations

import os
from pathlib import Path


def measure_workers() -> None:
    """Start the targets of this process through the entry in `tests/examples/measured`.

    Does nothing but where `make coverage` runs, and the ciguard that runs is that of the checkout.
    """
    if "COVERAGE_FOLDER" not in os.environ:
        return
    from ciguard.execution import process  # noqa: PLC0415 - only there, and not before ciguard itself

    checkout = Path(process.__file__).parents[2]
    measured = checkout / "tests" / "examples" / "measured"
    entry = measured / "ciguard" / "execution" / "worker" / "bootstrap.py"
    if entry.is_file():
        process.BOOTSTRAP = entry
