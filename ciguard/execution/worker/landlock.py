"""Landlock: the files and ports that a process, and all that it starts, may reach.

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
"""Versions from which on it rules these."""
_TCP_BIND_AND_CONNECT, _TCP_CONNECT = 0b11, 0b10
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

SYSTEM_PATHS = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt/rocm", "/proc", "/sys",
    "/etc/alternatives", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types",
    "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
"""Readable by every worker: what an interpreter and a shared library need. `/proc` shows only the
worker's own processes' environment and memory: Landlock refuses to read those of others."""

DEVICE_PATHS = ("/dev/null", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
ZEROS = "/dev/zero"
"""Read only: who may write it may map it as shared memory, which no limit counts."""
_NUMBERED = "/dev/nvidia"
_WSL = "/dev/dxg"
GPU_PATHS = (_NUMBERED, _WSL, "/dev/dri", "/dev/kfd", "/dev/shm", ZEROS)  # noqa: S108 - granted
_NAMES_OF_THREADS = "/proc"
"""NVIDIA's driver, from version 570 on, names its threads in `/proc/PID/task/TID/comm`, and does
not start where it cannot (error 304). A process that forks workers cannot know their numbers, so it
may write below all of `/proc`; each worker gives that up but for its own threads."""


def landlock_abi() -> int:
    """Return the kernel's Landlock version, 0 where there is none."""
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
    """Confine this thread, and all it starts from now on, to the given files by Landlock.

    Must run while the process has one thread. Cannot be undone.

    Args:
        readable: folders and files that may be read and executed; missing ones are passed over.
        writable: folders in which everything is allowed, and files.
        devices: device files, or prefixes of their names, that may be read and written.
        listable: folders whose names may be read, and those of the folders in them.
        ports: that may be connected to by TCP.

    Returns:
        Whether the kernel knows Landlock.

    Raises:
        OSError: if the kernel knows Landlock and refuses the rules.
    """
    abi = landlock_abi()
    if abi == 0:
        return False
    rights = _rights(abi)
    granted = [(path, _READ_RIGHTS) for path in readable]
    granted += [(path, rights & ~_IOCTL_DEV) for path in writable]
    granted += [(path, _DEVICE_RIGHTS) for path in _matching(devices)]
    if _NUMBERED in devices:
        granted.append((os.path.dirname(_NUMBERED), _READ_DIR))  # workers look for them again
        granted.append((_NAMES_OF_THREADS, _WRITE_FILE | _TRUNCATE))
    granted += [(path, _READ_DIR) for path in listable]
    _restrict(abi, rights, granted, ports=list(ports))
    return True


def part_from_others(writable: Iterable[str], devices: Sequence[str] = ()) -> bool:
    """Confine this process further: to a domain of its own, and to writing these folders only.

    Processes of the domain that it leaves are as foreign to it as any: it cannot trace them, take
    their descriptors or, with Landlock 6, send them signals.

    Returns:
        Whether the kernel knows Landlock.

    Raises:
        OSError: if the kernel knows Landlock and refuses the rules.
    """
    abi = landlock_abi()
    if abi == 0:
        return False
    rights = _rights(abi) & ~_READ_RIGHTS
    granted = [(path, rights & ~_IOCTL_DEV) for path in writable]
    granted += [(path, _DEVICE_RIGHTS) for path in _matching(devices)]
    if _NUMBERED in devices:
        granted.append((f"{_NAMES_OF_THREADS}/{os.getpid()}/task", _WRITE_FILE | _TRUNCATE))
    _restrict(abi, rights, granted)
    return True


def _rights(abi: int) -> int:
    return _RIGHTS_OF_ABI.get(abi, _ALL_RIGHTS)


def _restrict(
    abi: int, rights: int, granted: Iterable[tuple[str, int]], *, ports: list[int] | None = None
) -> None:
    """Rule `rights`, and grant those that go with each path; with `ports`, rule connections."""
    rules_ports = ports is not None and abi >= NETWORK_SINCE
    attributes = struct.pack(
        "=QQQ",
        rights,
        _TCP_BIND_AND_CONNECT if rules_ports else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= SCOPES_SINCE else 0,
    )
    # Older kernels refuse the parts that they do not know, unless those are empty.
    ruleset = _checked(_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path, allowed in granted:
            _allow(ruleset, path, allowed & rights)
        for port in (ports or ()) if rules_ports else ():
            rule = struct.pack("=QQ", _TCP_CONNECT, port)
            _checked(_LANDLOCK_ADD_RULE, ruleset, _RULE_NET_PORT, rule, 0)
        forbid_new_privileges()
        _checked(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _matching(names: Iterable[str]) -> list[str]:
    """Return the devices of these names; what begins with `/dev/nvidia` has numbers behind it."""
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
        return  # nothing there to allow
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
