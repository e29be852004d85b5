"""Registers the planted library with ciguard, as a package of another project would."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.libraries import Library


def __getattr__(name: str) -> Library:
    """Make the library on demand: the entry point is read long before any target is used.

    With `PLANTED_DEVICE`, it computes on the emulated device.
    """
    if name != "library":
        raise AttributeError(name)
    from ciguard.libraries import ForkPolicy, Library  # noqa: PLC0415
    from ciguard_planted.measured import measure_workers  # noqa: PLC0415

    measure_workers()
    return Library(
        name="planted",
        distributions=("ciguard-planted",),
        module="planted",
        adapter=Path(__file__).with_name(
            "device_adapter.py" if os.environ.get("PLANTED_DEVICE") else "adapter.py"
        ),
        forks=ForkPolicy.AFTER_USE,
        case_limit_s=2.0,
    )
