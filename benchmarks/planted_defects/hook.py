"""Plants the defects of a seed as soon as torch is imported; `planted_defects.pth` imports this."""

from __future__ import annotations

import os

from defect_planting import after_import

VARIABLE = "PLANTED_DEFECTS"
"""Holds the seed."""
COUNT_VARIABLE = "PLANTED_COUNT"
"""Holds the number of defects, if it is not the usual one."""


def _plant() -> None:
    from planted_defects.choice import COUNT, defects  # noqa: PLC0415 - only where torch is used
    from planted_defects.planting import plant  # noqa: PLC0415 - needs torch

    count = int(os.environ.get(COUNT_VARIABLE, COUNT))
    plant(defects(int(os.environ[VARIABLE]), count))


after_import("torch", _plant)
