"""Plants defects as soon as torch is imported; `code_defects.pth` imports this."""

from __future__ import annotations

import os

from defect_planting import after_import

VARIABLE = "CODE_DEFECTS"
"""Holds the names of the defects, with commas between them."""


def _plant() -> None:
    from code_defects.planting import plant  # noqa: PLC0415 - needs torch

    plant(os.environ[VARIABLE].split(","))


after_import("torch", _plant)
