"""Plants the defects of a seed as soon as torch is imported; `planted_defects.pth` imports this."""

from __future__ import annotations

import os

from defect_planting import after_import

VARIABLE = "PLANTED_DEFECTS"
"""Holds the seed."""


def _plant() -> None:
    from planted_defects.choice import defects  # noqa: PLC0415 - only where torch is used
    from planted_defects.planting import plant  # noqa: PLC0415 - needs torch

    plant(defects(int(os.environ[VARIABLE])))


after_import("torch", _plant)
