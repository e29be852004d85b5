"""The executor of a target's workers, by the settings of its process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.execution.worker.guarded import GuardedExecutor
from ciguard.execution.worker.modes import ModeExecutor
from ciguard.execution.worker.observing import ObservingExecutor

if TYPE_CHECKING:
    from ciguard.execution.worker.loop import Executor


def executor_of(settings: dict[str, Any], adapter: Any) -> Executor:
    """Return the executor of cases.

    Args:
        settings: settings of the target's process.
        adapter: adapter of the library, which is loaded.
    """
    on_device = bool(settings["device"] != "cpu")
    if settings["mode"]:
        return ModeExecutor(adapter, settings["mode"], on_device=on_device)
    make = GuardedExecutor if settings["guarded"] else ObservingExecutor
    return make(adapter, settings["functions"], on_device=on_device)
