"""TensorFlow's execution modes other than eager: graphs, with and without XLA."""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def modes() -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
    """Return the functions of the modes `function` (a graph) and `xla` (a graph with XLA)."""
    return {
        "function": _run_as_graph,
        "xla": partial(_run_as_graph, jit_compile=True),
    }


def stages(mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
    """Return the stages of a mode: traced only, then optimised by Grappler or compiled by XLA."""
    full = "grappler" if mode == "function" else "xla"
    return {
        "tracing": _run_without_grappler,
        full: modes()[mode],
    }


def _run_as_graph(
    function: Callable[..., Any],
    tensors: list[Any],
    *,
    jit_compile: bool = False,
) -> Any:
    # The function is a sequence of calls, so there is no control flow to convert.
    tensorflow = importlib.import_module("tensorflow")
    settings = {"autograph": False, "jit_compile": jit_compile or None}
    return tensorflow.function(function, **settings)(*tensors)


def _run_without_grappler(function: Callable[..., Any], tensors: list[Any]) -> Any:
    optimizer = importlib.import_module("tensorflow").config.optimizer
    settings = optimizer.get_experimental_options()
    optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        return _run_as_graph(function, tensors)
    finally:
        optimizer.set_experimental_options({"disable_meta_optimizer": False, **settings})
