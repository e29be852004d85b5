"""Level `api`: one call of one public function, layer or tensor method at a time."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ciguard.levels.api.call_mix import CallMix
    from ciguard.levels.api.calls import CallGenerator
    from ciguard.levels.api.simplifying import perturbed_call, simpler_calls

__all__ = ["CallGenerator", "CallMix", "perturbed_call", "simpler_calls"]

_MODULES = {
    "CallGenerator": "calls",
    "CallMix": "call_mix",
    "perturbed_call": "simplifying",
    "simpler_calls": "simplifying",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, because reading the level's settings must be fast."""
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"ciguard.levels.api.{_MODULES[name]}"), name)
