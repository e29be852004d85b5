"""Landlock rules for the files and ports that a process and its descendants may access.

Source: Linux Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from typing import Iterable, Sequence

from ciguard.execution.worker.privileges import forbid_new_privileges

_LIBC = ctypes.CDLL(None, use_errno=True)
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_VERSION_FLAG = 1
_RULE_PATH_BENEATH, _RULE_NET_PORT = 1, 2

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ_RIGHTS = _EXECUTE | _READ_FILE | _READ_DIR
_DEVICE_RIGHTS = _READ_RIGHTS | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
_RIGHTS_OF_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_RIGHTS = (1 << 16) - 1
TRUNCATION_SINCE, NETWORK_SINCE, SCOPES_SINCE = 3, 4, 6
"""First Landlock versions that control truncation, TCP, and scopes."""
_TCP_BIND_AND_CONNECT, _TCP_CONNECT = 0b11, 0b10
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

SYSTEM_PATHS = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt/rocm", "/proc", "/sys",
    "/etc/alternatives", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types",
    "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
"""Files that every worker may read, as its interpreter and shared libraries need them.

In `/proc`, Landlock refuses access to the environment and memory of other processes."""

DEVICE_PATHS = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
ZEROS = "/dev/zero"
"""Device that is readable only, as writing would allow to map unlimited shared memory."""
_NUMBERED = "/dev/nvidia"
_WSL = "/dev/dxg"
GPU_PATHS = (_NUMBERED, _WSL, "/dev/dri", "/dev/kfd", "/dev/shm", ZEROS)  # noqa: S108 - granted
_THREAD_NAMES = "/proc"
"""Folder in which NVIDIA's driver names its threads (`/proc/PID/task/TID/comm`).

From version 570 on, the driver does not start if it cannot write there (error 304). A fork server
does not know the process ids of its workers in advance, so it may write below all of `/proc`. Each
worker restricts itself to its own threads."""


def landlock_abi() -> int:
    """Return the kernel's Landlock version; 0 if it does not support Landlock."""
    version = _LIBC.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION_FLAG)
    return max(int(version), 0)


def restrict_files(
    readable: Iterable[str],
    writable: Iterable[str],
    devices: Sequence[str] = (),
    *,
    listable: Iterable[str] = (),
    ports: Iterable[int] = (),
) -> bool:
    """Restrict this thread, and all that it starts from now on, to the given files.

    Call this while the process has only one thread; it cannot be undone.

    Args:
        readable: folders and files that may be read and executed; missing ones are ignored.
        writable: folders and files with unrestricted access.
        devices: device files, or prefixes of their names, that may be read and written.
        listable: folders that may be listed, including their subfolders.
        ports: TCP ports that may be connected to.

    Returns:
        True if the kernel supports Landlock.

    Raises:
        OSError: if the kernel supports Landlock but refuses the rules.
    """
    abi = landlock_abi()
    if abi == 0:
        return False
    rights = _rights(abi)
    granted = [(path, _READ_RIGHTS) for path in readable]
    granted += [(path, rights & ~_IOCTL_DEV) for path in writable]
    granted += [(path, _DEVICE_RIGHTS) for path in _matching(devices)]
    if _NUMBERED in devices:
        granted.append((os.path.dirname(_NUMBERED), _READ_DIR))  # workers list the devices, too
        granted.append((_THREAD_NAMES, _WRITE_FILE | _TRUNCATE))
    granted += [(path, _READ_DIR) for path in listable]
    _restrict(abi, rights, granted, ports=list(ports))
    return True


def isolate_worker(writable: Iterable[str], devices: Sequence[str] = ()) -> bool:
    """Restrict this process further: to its own Landlock domain, and to writing these folders.

    It cannot access processes of the former domain any more: neither trace them, nor copy their
    descriptors, nor, from Landlock 6 on, send them signals.

    Returns:
        True if the kernel supports Landlock.

    Raises:
        OSError: if the kernel supports Landlock but refuses the rules.
    """
    abi = landlock_abi()
    if abi == 0:
        return False
    rights = _rights(abi) & ~_READ_RIGHTS
    granted = [(path, rights & ~_IOCTL_DEV) for path in writable]
    granted += [(path, _DEVICE_RIGHTS) for path in _matching(devices)]
    if _NUMBERED in devices:
        granted.append((f"{_THREAD_NAMES}/{os.getpid()}/task", _WRITE_FILE | _TRUNCATE))
    _restrict(abi, rights, granted)
    return True


def _rights(abi: int) -> int:
    return _RIGHTS_OF_ABI.get(abi, _ALL_RIGHTS)


def _restrict(
    abi: int, rights: int, granted: Iterable[tuple[str, int]], *, ports: list[int] | None = None
) -> None:
    """Deny `rights` except those granted for each path; with `ports`, deny other connections."""
    controls_ports = ports is not None and abi >= NETWORK_SINCE
    attributes = struct.pack(
        "=QQQ",
        rights,
        _TCP_BIND_AND_CONNECT if controls_ports else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= SCOPES_SINCE else 0,
    )
    # Older kernels refuse unknown attributes unless they are 0.
    ruleset = _checked(_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path, allowed in granted:
            _allow(ruleset, path, allowed & rights)
        for port in (ports or ()) if controls_ports else ():
            rule = struct.pack("=QQ", _TCP_CONNECT, port)
            _checked(_LANDLOCK_ADD_RULE, ruleset, _RULE_NET_PORT, rule, 0)
        forbid_new_privileges()
        _checked(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _matching(names: Iterable[str]) -> list[str]:
    """Return the existing devices of these names, and the numbered ones of `/dev/nvidia`."""
    matching: list[str] = []
    for name in names:
        if os.path.exists(name):
            matching.append(name)
        if name == _NUMBERED:
            folder, prefix = os.path.split(name)
            matching += [
                os.path.join(folder, entry)
                for entry in os.listdir(folder)
                if entry.startswith(prefix) and entry != prefix
            ]
    return matching


def _allow(ruleset: int, path: str, rights: int) -> None:
    if not rights:
        return
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return  # a missing file needs no rule
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _FILE_RIGHTS
        _checked(
            _LANDLOCK_ADD_RULE,
            ruleset,
            _RULE_PATH_BENEATH,
            struct.pack("=Qi", rights, descriptor),
            0,
        )
    finally:
        os.close(descriptor)


def _checked(number: int, *arguments: object) -> int:
    result = int(_LIBC.syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock system call {number}: {os.strerror(code)}")
    return result
