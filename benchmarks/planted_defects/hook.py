"""Plants the defects of a seed as soon as torch is imported; `planted_defects.pth` imports this."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

VARIABLE = "PLANTED_DEFECTS"
"""Holds the seed."""


class PlantingFinder(importlib.abc.MetaPathFinder):
    """Finds torch as it is found anyway; what loads it then plants."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return torch's own specification, its loader followed by the planting."""
        del path, target
        if fullname != "torch":
            return None
        sys.meta_path.remove(self)  # the finders behind it are asked, and it is needed once only
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader: Any) -> None:
        load = loader.exec_module

        def load_and_plant(module: ModuleType) -> None:
            load(module)
            from planted_defects.choice import defects  # noqa: PLC0415 - only where torch is used
            from planted_defects.planting import plant  # noqa: PLC0415 - needs torch

            plant(defects(self._seed))

        loader.exec_module = load_and_plant


sys.meta_path.insert(0, PlantingFinder(int(os.environ[VARIABLE])))
