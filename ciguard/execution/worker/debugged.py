"""One case under a debugger: first this process becomes the debugger, then its child runs the case.

The debugger is held to the same files as a worker, and the case to the same system calls.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from ciguard.execution.worker import confine
from ciguard.execution.worker.loop import Executor
from ciguard.execution.worker.server import link_programs, load_adapter, restrain, start_device

_ENTRY = "case.py"


def run(settings: dict[str, Any]) -> None:
    """Become the debugger that the settings name; where they name none any more, run the case.

    With `holds_itself`, a tool that cannot be confined itself has started this process.
    """
    debugger = settings["debugger"]
    if debugger:
        confine.hold(settings)
        os.chdir(settings["scratch"])
        inner = [sys.argv[0], json.dumps({**settings, "debugger": []})]
        with open(_ENTRY, "w", encoding="utf-8") as file:
            file.write(f"import runpy, sys\nsys.argv = {inner!r}\n")
            file.write("runpy.run_path(sys.argv[0], run_name='__main__')\n")
        # Without a shell gdb parts arguments at spaces: none of these holds one.
        own = [sys.executable, "-s", _ENTRY]
        os.execv(debugger[0], [*debugger, *own])  # noqa: S606 - no shell is wanted
    if settings["holds_itself"]:
        confine.hold(settings)
        confine.settle(settings, settings["scratch"])
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
