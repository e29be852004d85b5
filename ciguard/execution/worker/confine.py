"""Confinement of a worker by the kernel: Landlock, seccomp and resource limits.

Fuzzed calls may delete files, open sockets and start processes. Landlock restricts them to the
files that they need, seccomp to the system calls of `syscalls`, even as root, and resource limits
bound memory and output. The mechanisms that the running kernel supports are used and reported. They
are in `privileges`, `landlock`, `seccomp` and `limits`.
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
    """Compute the shared part of the seccomp filter now, for all processes forked later."""
    if seccomp.is_supported():
        seccomp.shared_program(role, platform.machine())


def restrict_system_calls(role: ProcessRole) -> bool:
    """Restrict every thread of this process to the system calls of its role, see `syscalls`.

    Returns:
        True if the kernel and this machine type support it.
    """
    forbid_new_privileges()
    return seccomp.install(role)


RLIMITS, CAPABILITIES, LANDLOCK, SCOPES, SECCOMP = (
    "rlimits", "capabilities", "landlock", "scopes", "seccomp",
)  # fmt: skip
"""Names of the mechanisms; `scopes` are those of Landlock, for signals and abstract sockets."""


def role_of(settings: dict[str, Any], *, imports: bool = False) -> ProcessRole:
    """Return the role of a target's worker, or with `imports` that of its fork server."""
    return ProcessRole(
        imports=imports,
        processes=settings["processes"],
        devices=settings["device"] != "cpu",
        truncates=landlock.landlock_abi() >= landlock.TRUNCATION_SINCE,
        loopback=bool(settings.get("ports")) and landlock.landlock_abi() >= landlock.NETWORK_SINCE,
    )


def restrict_files(settings: dict[str, Any]) -> list[str]:
    """Restrict the files of this process and its descendants; return the mechanisms' names."""
    names = [RLIMITS]
    if not settings["confine"]:
        return names
    if drop_capabilities():
        names.append(CAPABILITIES)
    package = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    readable = [*landlock.SYSTEM_PATHS, landlock.ZEROS, *settings["readable"], *package]
    is_supported = landlock.restrict_files(
        readable,
        settings["writable"],
        _devices(settings),
        listable=settings.get("listable", ()),
        ports=settings.get("ports", ()),
    )
    if is_supported:
        names += [LANDLOCK, *([SCOPES] if landlock.landlock_abi() >= landlock.SCOPES_SINCE else [])]
    return names


def confine_import(settings: dict[str, Any]) -> list[str]:
    """Confine a process that will import the library, and return the mechanisms' names."""
    names = restrict_files(settings)
    if settings["confine"] and restrict_system_calls(role_of(settings, imports=True)):
        names.append(SECCOMP)
    return names


def isolate_worker(settings: dict[str, Any], folder: str) -> None:
    """Make `folder` the home of this worker, and the only folder in scratch that it may write."""
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    tempfile.tempdir = None  # the value was cached by the server
    if settings["confine"]:
        persistent = [path for path in settings["writable"] if path != settings["scratch"]]
        shared = compiled_folder(settings)  # exists only if the library shares compiled files
        landlock.isolate_worker([folder, shared, *persistent], _devices(settings))


def compiled_folder(settings: dict[str, Any]) -> str:
    """Return the folder of the compiled files that workers share."""
    return os.path.join(settings["scratch"], "compiled")


def _devices(settings: dict[str, Any]) -> tuple[str, ...]:
    if settings["device"] == "cpu":
        return landlock.DEVICE_PATHS
    return (*landlock.DEVICE_PATHS, *landlock.GPU_PATHS)
