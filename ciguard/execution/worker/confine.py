"""Confinement of a worker by the kernel: Landlock, seccomp and resource limits.

Fuzzed calls delete files, open sockets and start processes. Landlock keeps them inside their own
folder and away from everything they need not read; seccomp leaves them the system calls of
`syscalls`, also as root; limits bound memory and output. Only what the running kernel offers is
used, and what was used is reported. `privileges`, `landlock`, `seccomp` and `limits` are the means.
"""

from __future__ import annotations

import os
import platform
import tempfile
from typing import Any

from ciguard.execution.worker import landlock, seccomp
from ciguard.execution.worker.privileges import drop_capabilities, forbid_new_privileges
from ciguard.execution.worker.syscalls import ProcessRole


def prepare_restrictions(role: ProcessRole) -> None:
    """Make the shared part of the filter of `restrict_calls` now, for all that is forked later."""
    if seccomp.is_supported():
        seccomp.shared_program(role, platform.machine())


def restrict_calls(role: ProcessRole) -> bool:
    """Leave every thread of this process the system calls of its role, see `syscalls`.

    Returns:
        Whether the kernel and this machine type allow it.
    """
    forbid_new_privileges()
    return seccomp.install(role)


RLIMITS, CAPABILITIES, LANDLOCK, SCOPES, SECCOMP = (
    "rlimits", "capabilities", "landlock", "scopes", "seccomp",
)  # fmt: skip
"""Names of what can hold a process; `scopes` are Landlock's, of signals and abstract sockets."""


def role_of(settings: dict[str, Any], *, imports: bool = False) -> ProcessRole:
    """Return the role of a target's worker, or with `imports` of the process that forks them."""
    return ProcessRole(
        imports=imports,
        processes=settings["processes"],
        devices=settings["device"] != "cpu",
        truncates=landlock.landlock_abi() >= landlock.TRUNCATION_SINCE,
        loopback=bool(settings.get("ports")) and landlock.landlock_abi() >= landlock.NETWORK_SINCE,
    )


def hold(settings: dict[str, Any]) -> list[str]:
    """Confine this process, and all it starts, to its files; return the names of what holds it."""
    used = [RLIMITS]
    if not settings["confine"]:
        return used
    if drop_capabilities():
        used.append(CAPABILITIES)
    own = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    readable = [*landlock.SYSTEM_PATHS, landlock.ZEROS, *settings["readable"], *own]
    is_ruled = landlock.restrict_files(
        readable,
        settings["writable"],
        _devices(settings),
        listable=settings.get("listable", ()),
        ports=settings.get("ports", ()),
    )
    if is_ruled:
        used += [LANDLOCK, *([SCOPES] if landlock.landlock_abi() >= landlock.SCOPES_SINCE else [])]
    return used


def hold_import(settings: dict[str, Any]) -> list[str]:
    """Confine a process that is to import the library; return the names of what holds it."""
    used = hold(settings)
    if settings["confine"] and restrict_calls(role_of(settings, imports=True)):
        used.append(SECCOMP)
    return used


def settle(settings: dict[str, Any], folder: str) -> None:
    """Make `folder` the home of this worker, and the only folder of its own that it may write."""
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    tempfile.tempdir = None  # what the server has looked up
    if settings["confine"]:
        kept = [path for path in settings["writable"] if path != settings["scratch"]]
        shared = compiled_folder(settings)  # there only where the library shares what it compiles
        landlock.part_from_others([folder, shared, *kept], _devices(settings))


def compiled_folder(settings: dict[str, Any]) -> str:
    """Return the folder of what workers compile for each other; they are named by numbers."""
    return os.path.join(settings["scratch"], "compiled")


def _devices(settings: dict[str, Any]) -> tuple[str, ...]:
    if settings["device"] == "cpu":
        return landlock.DEVICE_PATHS
    return (*landlock.DEVICE_PATHS, *landlock.GPU_PATHS)
