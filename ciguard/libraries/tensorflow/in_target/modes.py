"""TensorFlow's execution modes other than eager: graphs, with and without XLA."""

from __future__ import annotations

import contextlib
import importlib
from functools import partial
from typing import TYPE_CHECKING, Any

from ciguard.libraries.tensorflow.in_target.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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


def with_options(mode: str) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
    """Return functions that run graphs with other options of Grappler, by name.

    XLA's options cannot be changed in a running process.
    """
    if mode != "function":
        return {}
    return {name: partial(_run_with_options, options=found) for name, found in OPTIONS.items()}


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
    return _run_with_options(function, tensors, options={"disable_meta_optimizer": True})


def _run_with_options(
    function: Callable[..., Any], tensors: list[Any], *, options: dict[str, bool | int]
) -> Any:
    with _grappler(options):
        return _run_as_graph(function, tensors)


@contextlib.contextmanager
def _grappler(options: dict[str, bool | int]) -> Iterator[None]:
    """Set options of Grappler, and their previous or default values afterwards.

    Options cannot be unset. By default, every toggle has the value that `OPTIONS` does not set, and
    graphs of fewer than four nodes are not optimised, which is written 0.
    """
    optimizer = importlib.import_module("tensorflow").config.optimizer
    defaults = {key: not value if isinstance(value, bool) else 0 for key, value in options.items()}
    settings = {**defaults, **optimizer.get_experimental_options()}
    optimizer.set_experimental_options(options)
    try:
        yield
    finally:
        optimizer.set_experimental_options(settings)
