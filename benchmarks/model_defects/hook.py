"""Plants defects as soon as Keras is imported; `model_defects.pth` imports this."""

from __future__ import annotations

import os

from defect_planting import after_import

VARIABLE = "MODEL_DEFECTS"
"""Holds the names of the defects, with commas between them."""


def _plant() -> None:
    from model_defects.planting import plant  # noqa: PLC0415 - needs Keras

    plant(os.environ[VARIABLE].split(","))


after_import("keras", _plant)
