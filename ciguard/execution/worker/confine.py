"""Confinement of a worker by the kernel: Landlock, seccomp and resource limits.

Fuzzed calls delete files, open sockets and start processes. Landlock keeps them inside their own
folder and away from everything they need not read; seccomp leaves them the system calls of
`syscalls`, also as root; limits bound memory and output. Only what the running kernel offers is
used, and what was used is reported.

Source: Linux Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import signal
import stat
import struct
import tempfile
from typing import Any, Iterable, Sequence  # noqa: UP035 - Python 3.9 in the target

from ciguard.execution.worker import seccomp
from ciguard.execution.worker.syscalls import Role

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies, however it dies."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def hide_from_siblings() -> None:
    """Keep other processes of this user out of this one's descriptors and memory.

    It holds for what is forked from now on, until it starts another program, and with or without
    Landlock. It needs CAP_SYS_PTRACE to get round it, see `drop_capabilities`.
    """
    _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _forbid_new_privileges() -> None:
    if _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")


# --- capabilities -------------------------------------------------------------------------------

_CAPABILITY_VERSION_3 = 0x20080522
_KEPT_CAPABILITIES = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: Landlock rules files


def drop_capabilities() -> bool:
    """Give up every privilege of root but that of opening files, which Landlock then rules.

    With CAP_SYS_ADMIN or CAP_PERFMON a process may read any other's environment, Landlock or not.

    Returns:
        Whether the kernel allowed it.
    """
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    current = ctypes.create_string_buffer(24)
    if _LIBC.capget(header, current) != 0:
        return False
    effective, permitted = struct.unpack_from("=II", current.raw)
    kept = (effective & _KEPT_CAPABILITIES, permitted & _KEPT_CAPABILITIES, 0)
    return int(_LIBC.capset(header, struct.pack("=IIIIII", *kept, 0, 0, 0))) == 0


# --- Landlock -----------------------------------------------------------------------------------

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
_TRUNCATION_SINCE, _NETWORK_SINCE, _SCOPES_SINCE = 3, 4, 6
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
    rules_ports = ports is not None and abi >= _NETWORK_SINCE
    attributes = struct.pack(
        "=QQQ",
        rights,
        _TCP_BIND_AND_CONNECT if rules_ports else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= _SCOPES_SINCE else 0,
    )
    # Older kernels refuse the parts that they do not know, unless those are empty.
    ruleset = _checked(_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path, allowed in granted:
            _allow(ruleset, path, allowed & rights)
        for port in (ports or ()) if rules_ports else ():
            rule = struct.pack("=QQ", _TCP_CONNECT, port)
            _checked(_LANDLOCK_ADD_RULE, ruleset, _RULE_NET_PORT, rule, 0)
        _forbid_new_privileges()
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


# --- system calls -------------------------------------------------------------------------------


def prepare_restrictions(role: Role) -> None:
    """Make the shared part of the filter of `restrict_calls` now, for all that is forked later."""
    if seccomp.is_supported():
        seccomp.shared_program(role, platform.machine())


def restrict_calls(role: Role) -> bool:
    """Leave every thread of this process the system calls of its role, see `syscalls`.

    Returns:
        Whether the kernel and this machine type allow it.
    """
    _forbid_new_privileges()
    return seccomp.install(role)


# --- all of it ----------------------------------------------------------------------------------

RLIMITS, CAPABILITIES, LANDLOCK, SCOPES, SECCOMP = (
    "rlimits", "capabilities", "landlock", "scopes", "seccomp",
)  # fmt: skip
"""Names of what can hold a process; `scopes` are Landlock's, of signals and abstract sockets."""


def role_of(settings: dict[str, Any], *, imports: bool = False) -> Role:
    """Return the role of a target's worker, or with `imports` of the process that forks them."""
    return Role(
        imports=imports,
        processes=settings["processes"],
        devices=settings["device"] != "cpu",
        truncates=landlock_abi() >= _TRUNCATION_SINCE,
        loopback=bool(settings.get("ports")) and landlock_abi() >= _NETWORK_SINCE,
    )


def hold(settings: dict[str, Any]) -> list[str]:
    """Confine this process, and all it starts, to its files; return the names of what holds it."""
    used = [RLIMITS]
    if not settings["confine"]:
        return used
    if drop_capabilities():
        used.append(CAPABILITIES)
    own = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    readable = [*SYSTEM_PATHS, ZEROS, *settings["readable"], *own]
    is_ruled = restrict_files(
        readable,
        settings["writable"],
        _devices(settings),
        listable=settings.get("listable", ()),
        ports=settings.get("ports", ()),
    )
    if is_ruled:
        used += [LANDLOCK, *([SCOPES] if landlock_abi() >= _SCOPES_SINCE else [])]
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
        part_from_others([folder, shared, *kept], _devices(settings))


def compiled_folder(settings: dict[str, Any]) -> str:
    """Return the folder of what workers compile for each other; they are named by numbers."""
    return os.path.join(settings["scratch"], "compiled")


def _devices(settings: dict[str, Any]) -> tuple[str, ...]:
    return DEVICE_PATHS if settings["device"] == "cpu" else (*DEVICE_PATHS, *GPU_PATHS)


# --- limits -------------------------------------------------------------------------------------


def limit_output(output_mib: int) -> None:
    """Let the kernel end this process by SIGXFSZ when a file or stream of it grows past the limit.

    Core dumps are switched off too: they would be written outside the worker's folder.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it by default
    _lower(resource.RLIMIT_FSIZE, output_mib * 1024 * 1024)
    _lower(resource.RLIMIT_CORE, 0)


def limit_memory(memory_mib: int) -> None:
    """Let allocations fail once this process has `memory_mib` more than it has now.

    Counts private writable memory (RLIMIT_DATA), not the address space: libraries reserve far more
    of that than they use.
    """
    _lower(resource.RLIMIT_DATA, _data_size() + memory_mib * 1024 * 1024)


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_PERTURB = -1, -3, -6
_MIB = 1024 * 1024
_BLOCK_SIZES = (*range(16, 1040, 16), *range(1040, 8192, 256))
_BLOCKS = 24
_LIBC.malloc.argtypes, _LIBC.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
_LIBC.free.argtypes, _LIBC.free.restype = (ctypes.c_void_p,), None


def keep_freed_memory() -> None:
    """Let the C library keep up to 64 MiB that it freed instead of giving it back to the kernel.

    Millions of small calls that each allocate, free and fault pages in again spend a sixth of
    their time in the kernel otherwise.
    """
    _LIBC.mallopt(_M_MMAP_THRESHOLD, 4 * _MIB)
    _LIBC.mallopt(_M_TRIM_THRESHOLD, 64 * _MIB)


def perturb_memory(byte: int) -> None:
    """Let the C library fill newly allocated memory with (the complement of) `byte`, 1 to 255.

    Source: mallopt(3), M_PERTURB.
    """
    _LIBC.mallopt(_M_PERTURB, byte)
    # What is free already still holds what was there: a read past the end of an array meets that.
    blocks = [_LIBC.malloc(size) for size in _BLOCK_SIZES for _ in range(_BLOCKS)]
    for block in blocks:
        _LIBC.free(block)


def _data_size() -> int:
    with open("/proc/self/statm", encoding="ascii") as statistics:
        return int(statistics.read().split()[5]) * resource.getpagesize()


def _lower(kind: int, value: int) -> None:
    _, most = resource.getrlimit(kind)
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    resource.setrlimit(kind, (value, value))
