"""A GPU in WSL: its only device file is `/dev/dxg`. Here, a device that ignores what is written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ciguard.execution.worker.landlock import landlock_abi

if TYPE_CHECKING:
    from pathlib import Path

NODES = {"dxg": (1, 3), "other": (1, 3), "null": (1, 3), "zero": (1, 5), "urandom": (1, 9)}
SCRIPT = """\
import errno, fcntl, json, os, sys
from ciguard.execution.worker import confine
from ciguard.libraries.in_target import devices

def opened(path):
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError as error:
        return errno.errorcode[error.errno]
    try:
        os.write(descriptor, b"x")
        fcntl.ioctl(descriptor, 0x4701)
    except OSError as error:
        return errno.errorcode[error.errno]

devices.require("cuda:0", "torch")
settings = {
    "confine": True, "device": "cuda:0", "processes": False, "readable": sys.path[1:],
    "writable": [sys.argv[1]], "scratch": sys.argv[1],
}
confine.restrict_files(settings)
confine.isolate_worker(settings, sys.argv[1])
confine.restrict_system_calls(confine.role_of(settings))
print(json.dumps([opened("/dev/dxg"), opened("/dev/other")]))
"""


def run_in_wsl(folder: Path, nodes: dict[str, tuple[int, int]]) -> subprocess.CompletedProcess[str]:
    """Run the script where `/dev` has the given files alone."""
    made = [f"mknod /dev/{name} c {major} {minor}" for name, (major, minor) in nodes.items()]
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [
        shutil.which("unshare", path=os.defpath) or "unshare", "--mount", "sh", "-c",
        " && ".join(["mount -t tmpfs tmpfs /dev", *made, 'exec "$@"']), "sh",
        sys.executable, str(folder / "script.py"), str(folder),
    ]  # fmt: skip
    environment = {**os.environ, "PATH": os.defpath}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if "unshare" in done.stderr or "mount" in done.stderr or "mknod" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    return done


def test_confined_worker_may_use_the_device_of_wsl_and_no_other(tmp_path: Path) -> None:
    done = run_in_wsl(tmp_path, NODES)

    assert done.returncode == 0, done.stderr
    dxg, other = json.loads(done.stdout)
    assert dxg == "ENOTTY"  # the device itself refuses the request, and no rule does
    assert other == ("EACCES" if landlock_abi() else "ENOTTY")


def test_machine_without_any_device_file_has_no_driver(tmp_path: Path) -> None:
    done = run_in_wsl(tmp_path, {name: node for name, node in NODES.items() if name != "dxg"})

    assert done.returncode == 1
    assert "no NVIDIA driver for torch was found" in done.stderr
