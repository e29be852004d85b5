"""Global state of Keras, version 2 (inside TensorFlow) and 3."""

from __future__ import annotations

import sys
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SETTINGS = ("keras.src.backend.config", "keras.src.backend_config", "keras.backend_config")
"""Modules that contain `floatx`, `epsilon` and `image_data_format` in different versions."""
_POLICIES = ("keras.src.mixed_precision.policy", "keras.mixed_precision.policy")
_TRACKER = "keras.src.backend.common.global_state"
_BACKENDS = ("keras.src.backend", "keras.backend")
"""Modules of Keras 2 with counters of layer names, which error messages contain."""


def accessors() -> list[tuple[Callable[[], Any], Callable[[Any], object]]]:
    """Return a reader and a writer of each part of Keras's state; none if it is not imported."""
    accessors = []
    for name in _SETTINGS:
        module = sys.modules.get(name)
        if module is not None:
            accessors.append(_variables(module, [key for key in vars(module) if key.isupper()]))
    for name in _POLICIES:
        module = sys.modules.get(name)
        if module is not None:
            accessors.append(_variables(module, ["_global_policy"]))
    for name in _BACKENDS:
        counters = getattr(sys.modules.get(name), "PER_GRAPH_OBJECT_NAME_UIDS", None)
        if counters is not None:
            accessors.append((counters.__len__, partial(_clear, counters)))
    tracker = getattr(sys.modules.get(_TRACKER), "GLOBAL_STATE_TRACKER", None)
    if tracker is not None:
        # One dictionary contains name counters, default dtype policy, seed generator and scopes.
        storage = vars(tracker)
        accessors.append((storage.copy, lambda clean: _refill(storage, clean)))
    return accessors


def _variables(module: Any, names: list[str]) -> tuple[Callable[[], Any], Callable[[Any], object]]:
    """Return one reader and one writer for several variables of a module."""
    storage = vars(module)
    if len(names) == 1:
        (name,) = names
        return (lambda: storage.get(name)), (lambda clean: storage.update({name: clean}))
    read = itemgetter(*names)
    return (
        lambda: read(storage),
        lambda clean: storage.update(zip(names, clean)),
    )


def _clear(counters: Any, _clean: int) -> None:
    counters.clear()


def _refill(storage: dict[str, Any], clean: dict[str, Any]) -> None:
    storage.clear()
    storage.update(clean)
