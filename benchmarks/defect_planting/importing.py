"""Something that is done as soon as a library is imported."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def after_import(library: str, plant: Callable[[], None]) -> None:
    """Let `plant` be called once, right after this process has imported a library.

    Args:
        library: its top-level module, which is not imported yet.
        plant: may import it.
    """
    sys.meta_path.insert(0, _PlantingFinder(library, plant))


class _PlantingFinder(importlib.abc.MetaPathFinder):
    """Finds the library as it is found anyway; what loads it then plants."""

    def __init__(self, library: str, plant: Callable[[], None]) -> None:
        self._library = library
        self._plant = plant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the library's own specification, its loader followed by the planting."""
        del path, target
        if fullname != self._library:
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
            self._plant()

        loader.exec_module = load_and_plant
