"""What a process of a target does before the first case: its adapter, its limits, its device."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any, Sequence

from ciguard.execution.worker import confine, limits

_DRIVER_MIB = 1024
"""What a device's driver may take of the host's memory once it has started: kernels load late."""


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
    """Run harmless cases, so that each worker inherits warm code instead of warming its own.

    Python specialises a function's code after it ran a few times; names are resolved once.
    """
    for _ in range(repetitions):
        for case in cases:
            executor.execute(case)


def link_programs(settings: dict[str, Any]) -> None:
    """Show the user's programs in the current folder, which they may write to, unlike their own."""
    functions = settings["functions"]
    for name in functions["parts"] if functions else ():
        os.symlink(os.path.join(functions["folder"], name), name)


def restrain(settings: dict[str, Any]) -> None:
    """Bound what this process may use, and take system calls away from it for good."""
    limits.limit_output(settings["output_mib"])
    if settings["device"] == "cpu":  # else see `start_device`
        limits.limit_memory(settings["memory_mib"])
    if settings["confine"]:
        confine.restrict_calls(confine.role_of(settings))


def start_device(adapter: Any, settings: dict[str, Any]) -> None:
    """Start a device other than the CPU in this process, and bound the memory of cases from now on.

    Not before: a driver maps far more than it uses.

    Raises:
        Exception: whatever the library raises where the device cannot be used.
    """
    adapter.start_device(settings["memory_mib"])
    limits.limit_memory(settings["memory_mib"] + _DRIVER_MIB)
