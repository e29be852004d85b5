"""Execution of one case in a separate process under a debugger or a sanitizer.

`bootstrap` has restricted its files before. Here its system calls are restricted like a worker's.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ciguard.execution.worker.executors import executor_of
from ciguard.execution.worker.preparing import (
    link_programs,
    load_adapter,
    restrict_process,
    start_device,
)


def run(settings: dict[str, Any]) -> None:
    """Run the case in this process, whose files are restricted already."""
    os.chdir(settings["scratch"])
    link_programs(settings)
    _redirect_streams(os.path.join(settings["scratch"], "case.log"))
    adapter = load_adapter(settings["adapter"])
    adapter.load(settings["device"])
    if settings["warm_up"]:
        adapter.warm_up()
    with open(settings["case"], encoding="ascii") as file:
        case = json.load(file)
    restrict_process(settings)
    on_device = settings["device"] != "cpu"
    if on_device and not settings["holds_itself"]:  # a sanitizer would check all its kernels
        start_device(adapter, settings)
    executor_of({**settings, "mode": ""}, adapter).execute(case)


def _redirect_streams(path: str) -> None:
    """Redirect the standard streams to a file, so that output cannot be mistaken for a stack."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
