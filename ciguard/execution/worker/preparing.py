"""Preparation of a target's process before the first case: adapter, limits and device."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any, Sequence

from ciguard.execution.worker import confine, limits

_DRIVER_MIB = 1024
"""Host memory that a started driver may use later, when kernels are loaded, in MiB."""


def load_adapter(path: str) -> Any:
    """Return an instance of the adapter in the file `path`."""
    specification = importlib.util.spec_from_file_location("ciguard_adapter", path)
    if specification is None or specification.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(specification)
    sys.modules["ciguard_adapter"] = module
    specification.loader.exec_module(module)
    return module.ADAPTER()


def rehearse(executor: Any, cases: Sequence[list[Any]], repetitions: int) -> None:
    """Run harmless cases, so that each worker inherits code that is warmed up.

    Python specialises the code of a function after a few runs, and libraries fill their caches.
    """
    for _ in range(repetitions):
        for case in cases:
            executor.execute(case)


def link_programs(settings: dict[str, Any]) -> None:
    """Link the user's programs into the current folder, which they may write to."""
    functions = settings["functions"]
    for name, path in functions["links"].items() if functions else ():
        os.symlink(path, name)


def restrict_process(settings: dict[str, Any]) -> None:
    """Limit the resources of this process, and permanently restrict its system calls."""
    limits.limit_output(settings["output_mib"])
    if settings["device"] == "cpu":  # otherwise see `start_device`
        limits.limit_memory(settings["memory_mib"])
    if settings["confine"]:
        confine.restrict_system_calls(confine.role_of(settings))


def start_device(adapter: Any, settings: dict[str, Any]) -> None:
    """Start a device other than the CPU in this process, and limit its memory from then on.

    The memory is limited afterwards, as a driver maps far more than it uses.

    Raises:
        Exception: whatever the library raises if the device cannot be used.
    """
    if settings.get("is_synchronous"):
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # read when the driver starts
    adapter.start_device(settings["memory_mib"])
    limits.limit_memory(settings["memory_mib"] + _DRIVER_MIB)
