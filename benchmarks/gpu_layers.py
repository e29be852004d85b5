"""Starts the device under each layer of a worker's confinement, to see which one stops it.

`layers` adds the lines to the sheet. As a program, this file is one of the processes: it confines
itself, and starts the device.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.execution.worker import confine
from ciguard.libraries.in_target import devices

if TYPE_CHECKING:
    from gpu_rig import Sheet

FILES, WORKER, CALLS = "files of the server", "files of the worker", "system calls"
LAYERS = ((), (FILES,), (FILES, WORKER), (CALLS,), (FILES, WORKER, CALLS))
"""Layers that are tried together, as a worker adds them."""
START_LIMIT_S = 60.0
START = "print(devices.total_memory() >> 20, 'MiB')"
"""Starts NVIDIA's driver: `cuInit`, as the first call of every library."""


def layers(sheet: Sheet, library: str, *, start: str, readable: tuple[Path, ...]) -> None:
    """Add a line for each combination of layers.

    Args:
        sheet: the lines.
        library: name of the library, for the lines.
        start: the statement that starts the device.
        readable: folders that the workers of the target may read.
    """
    folders = [*readable, Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[1]]
    for names in LAYERS:
        with tempfile.TemporaryDirectory() as folder:
            settings = {
                "confine": True,
                "device": "cuda:0",
                "processes": False,
                "readable": [str(path) for path in folders],
                "writable": [folder],
                "scratch": folder,
            }
            request = json.dumps({"settings": settings, "layers": names, "start": start})
            done = subprocess.run(
                [sys.executable, "-P", __file__, request],
                capture_output=True,
                text=True,
                check=False,
                timeout=START_LIMIT_S,
            )
        shown = (done.stdout + done.stderr).strip().splitlines() or [f"status {done.returncode}"]
        sheet.add(
            f"{library}: the device starts under confinement of {', '.join(names) or 'nothing'}",
            passed=done.returncode == 0,
            detail=shown[-1][:300],
        )


def confine_and_start(request: dict[str, Any]) -> None:
    """Add the layers of a request to this process, and start the device."""
    settings = request["settings"]
    if FILES in request["layers"]:
        confine.restrict_files(settings)
    if WORKER in request["layers"]:
        confine.isolate_worker(settings, settings["scratch"])
    if CALLS in request["layers"]:
        confine.restrict_system_calls(confine.role_of(settings))
    exec(request["start"], {"devices": devices})  # noqa: S102 - a statement of this benchmark


if __name__ == "__main__":
    confine_and_start(json.loads(sys.argv[1]))
