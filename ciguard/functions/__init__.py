"""Annotated functions: what their annotations say, which calls of them are valid, what calls do.

`describe`, `hints`, `calling` and what these import run in the target beside the user's module;
the rest reads their JSON and draws calls. Here live no levels, no reports and no pytest.
"""

from __future__ import annotations

from ciguard.functions.arguments import DiscardedError, call_sampler, call_strategy
from ciguard.functions.calls import MAIN, Call
from ciguard.functions.specs import (
    Condition,
    FunctionSpec,
    MainSpec,
    ModuleSpec,
    ParameterSpec,
    Problem,
    module_from_json,
    with_functions,
)

__all__ = [
    "MAIN",
    "Call",
    "Condition",
    "DiscardedError",
    "FunctionSpec",
    "MainSpec",
    "ModuleSpec",
    "ParameterSpec",
    "Problem",
    "call_sampler",
    "call_strategy",
    "module_from_json",
    "with_functions",
]
