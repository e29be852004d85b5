"""Plants defects as soon as the compiler is imported; `graph_defects.pth` imports this."""

from __future__ import annotations

import os

from defect_planting import after_import

VARIABLE = "GRAPH_DEFECTS"
"""Holds the names of the defects, with commas between them."""


def _names() -> list[str]:
    return os.environ[VARIABLE].split(",")


def _plant_decompositions() -> None:
    from graph_defects.decompositions import plant  # noqa: PLC0415 - needs torch

    plant(_names())


def _plant_lowerings() -> None:
    from graph_defects.lowerings import plant  # noqa: PLC0415 - needs torch

    plant(_names())


after_import("torch._inductor.decomposition", _plant_decompositions)
after_import("torch._inductor.lowering", _plant_lowerings)
