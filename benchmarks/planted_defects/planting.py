"""Puts defects in the place of torch's functions, under every name that they have."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from planted_defects.wrappers import planted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from planted_defects.choice import Defect


def plant(chosen: Iterable[Defect]) -> None:
    """Plant defects into the torch of this process; two of one function go around each other.

    A layer is planted in its `forward`, a method in the class, a function in every module of torch
    that holds it: `torch.nn.functional` shares some with `torch._C._nn`.

    Raises:
        AttributeError: if torch has no such function.
    """
    for defect in chosen:
        owner, right = _found(defect.api)
        if inspect.isclass(right):
            layer: Any = right
            layer.forward = planted(layer.forward, defect)
        elif inspect.isclass(owner):
            setattr(owner, defect.api.rpartition(".")[2], planted(right, defect))
        else:
            _replace(right, planted(right, defect))


def _found(api: str) -> tuple[Any, Any]:
    """Return what a qualified name stands for, and what holds it."""
    first, *names = api.split(".")
    owner: Any = None
    found: Any = sys.modules[first]
    for name in names:
        owner, found = found, getattr(found, name)
    return owner, found


def _replace(right: Any, wrong: Any) -> None:
    for name, module in list(sys.modules.items()):
        if f"{name}.".startswith("torch."):
            for key, value in list(getattr(module, "__dict__", {}).items()):
                if value is right:
                    setattr(module, key, wrong)
