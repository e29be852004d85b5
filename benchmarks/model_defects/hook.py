"""Plants defects as soon as Keras is imported; `model_defects.pth` imports this."""

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

VARIABLE = "MODEL_DEFECTS"
"""Holds the names of the defects, with commas between them."""


class PlantingFinder(importlib.abc.MetaPathFinder):
    """Finds Keras as it is found anyway; what loads it then plants."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return Keras's own specification, its loader followed by the planting."""
        del path, target
        if fullname != "keras":
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
            from model_defects.planting import plant  # noqa: PLC0415 - needs Keras

            plant(self._names)

        loader.exec_module = load_and_plant


sys.meta_path.insert(0, PlantingFinder(os.environ[VARIABLE].split(",")))
