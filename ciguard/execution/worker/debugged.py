"""One case in a process of its own, which a debugger or a sanitizer watches.

`bootstrap` has held it to the files of a worker by then; here it is held to the same system calls.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ciguard.execution.worker.loop import Executor
from ciguard.execution.worker.preparing import link_programs, load_adapter, restrain, start_device


def run(settings: dict[str, Any]) -> None:
    """Run the case, confined already: a debugger or a sanitizer watches this process."""
    os.chdir(settings["scratch"])
    link_programs(settings)
    _silence(os.path.join(settings["scratch"], "case.log"))
    adapter = load_adapter(settings["adapter"])
    adapter.load(settings["device"])
    if settings["warm_up"]:
        adapter.warm_up()
    with open(settings["case"], encoding="ascii") as file:
        case = json.load(file)
    restrain(settings)
    on_device = settings["device"] != "cpu"
    if on_device and not settings["holds_itself"]:  # a sanitizer would check all of its kernels
        start_device(adapter, settings)
    Executor(adapter, settings["functions"], on_device=on_device).execute(case)


def _silence(path: str) -> None:
    """Send the standard streams to a file: what the case prints must not pass for a stack."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
