"""Confinement of a worker by the kernel: Landlock, seccomp and resource limits.

Fuzzed calls delete files, open sockets and start processes. Landlock keeps them inside their own
folder and away from everything they need not read; seccomp takes away sockets, new processes and
administrative calls, also from root; limits bound memory and output. Only what the running kernel
offers is used, and what was used is reported.

Sources: Linux Documentation/userspace-api/landlock.rst and seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import resource
import signal
import stat
import struct
from typing import Iterable, Sequence  # noqa: UP035 - Python 3.9 in the target

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
_RULE_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ_RIGHTS = _EXECUTE | _READ_FILE | _READ_DIR
_RIGHTS_OF_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
_ALL_RIGHTS = (1 << 16) - 1
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6
_TCP_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

SYSTEM_PATHS = (
    "/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt/rocm", "/proc", "/sys",
    "/etc/alternatives", "/etc/group", "/etc/host.conf", "/etc/hosts", "/etc/ld.so.cache",
    "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types",
    "/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/ssl/openssl.cnf", "/etc/timezone",
)  # fmt: skip
"""Readable by every worker: what an interpreter and a shared library need. `/proc` shows only the
worker's own processes' environment and memory: Landlock refuses to read those of others."""

DEVICE_PATHS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
GPU_PATHS = ("/dev/nvidia", "/dev/dri", "/dev/kfd", "/dev/shm")  # noqa: S108 - granted, not used


def landlock_abi() -> int:
    """Return the kernel's Landlock version, 0 where there is none."""
    version = _LIBC.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION_FLAG)
    return max(int(version), 0)


def restrict_files(
    readable: Iterable[str], writable: Iterable[str], devices: Iterable[str] = ()
) -> bool:
    """Confine this thread, and all it starts from now on, to the given files by Landlock.

    Must run while the process has one thread. Cannot be undone.

    Args:
        readable: folders and files that may be read and executed; missing ones are passed over.
        writable: folders in which everything is allowed.
        devices: device files, or prefixes of their names, that may be read and written.

    Returns:
        Whether the kernel knows Landlock.

    Raises:
        OSError: if the kernel knows Landlock and refuses the rules.
    """
    abi = landlock_abi()
    if abi == 0:
        return False
    rights = _RIGHTS_OF_ABI.get(abi, _ALL_RIGHTS)
    attributes = struct.pack(
        "=QQQ",
        rights,
        _TCP_BIND_AND_CONNECT if abi >= _NETWORK_SINCE else 0,
        _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= _SCOPES_SINCE else 0,
    )
    ruleset = _checked(_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READ_RIGHTS & rights)
        for path in writable:
            _allow(ruleset, path, rights & ~_IOCTL_DEV)
        for path in _matching(devices):
            _allow(ruleset, path, (_READ_RIGHTS | _WRITE_FILE | _TRUNCATE | _IOCTL_DEV) & rights)
        _forbid_new_privileges()
        _checked(_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return True


def _matching(prefixes: Iterable[str]) -> list[str]:
    found: list[str] = []
    for prefix in prefixes:
        folder, name = os.path.split(prefix)
        if os.path.exists(prefix):
            found.append(prefix)
        if os.path.isdir(folder):
            found += [
                os.path.join(folder, entry)
                for entry in os.listdir(folder)
                if entry.startswith(name) and entry != name and name.startswith("nvidia")
            ]
    return found


def _allow(ruleset: int, path: str, rights: int) -> None:
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


# --- seccomp ------------------------------------------------------------------------------------

_LD_WORD, _JUMP_EQUAL, _JUMP_SET, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_SET_MODE_FILTER, _FLAG_TSYNC = 1, 1
_CLONE_THREAD = 0x00010000
_AF_UNIX = 1

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SOCKET = {"x86_64": 41, "aarch64": 198}
_CLONE = {"x86_64": 56, "aarch64": 220}
_KILL = {"x86_64": 62, "aarch64": 129}
_CLONE3 = 435

_STARTS_PROCESSES = {
    "x86_64": (57, 58, 59, 322),  # fork vfork execve execveat
    "aarch64": (221, 281),  # execve execveat
}
_ADMINISTRATION = {
    "x86_64": (
        90, 91, 268, 452,  # chmod fchmod fchmodat fchmodat2
        92, 93, 94, 260,  # chown fchown lchown fchownat
        188, 189, 190,  # setxattr lsetxattr fsetxattr
        101, 310, 311,  # ptrace process_vm_readv process_vm_writev
        155, 161, 165, 166, 167, 168, 169,  # pivot_root chroot mount umount2 swapon swapoff reboot
        164, 170, 171, 175, 176, 246,  # settimeofday sethostname setdomainname modules kexec
        272, 308, 313, 321, 248, 249, 250,  # unshare setns finit_module bpf keyrings
    ),
    "aarch64": (
        52, 53, 452, 54, 55, 5, 6, 7, 117, 270, 271, 41, 51, 40, 39, 224, 225, 142,
        170, 161, 162, 105, 106, 104, 97, 268, 273, 280, 217, 218, 219,
    ),
}  # fmt: skip
_EVERY_PROCESS = 0xFFFFFFFF
_OWN_GROUP = 0

Instruction = tuple[int, int, int, int]


_INSTRUCTION = struct.Struct("=HBBI")


@functools.cache
def _packed_program(machine: str, *, processes: bool) -> bytes:
    program = _program(machine, processes=processes)
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in program)


def _program(machine: str, *, processes: bool) -> list[Instruction]:
    def refuse(code: int) -> Instruction:
        return (_RETURN, 0, 0, _ERRNO | code)

    def load(offset: int) -> Instruction:
        return (_LD_WORD, 0, 0, offset)

    def number_is(number: int, body: Sequence[Instruction]) -> list[Instruction]:
        return [(_JUMP_EQUAL, 0, len(body), number), *body]

    program = [
        load(_ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL_PROCESS),  # a foreign ABI would number its calls differently
        load(_NUMBER_AT),
    ]
    denied = list(_ADMINISTRATION[machine])
    if processes:
        # A compiler needs to start programs and to make what it wrote executable.
        denied = [number for number in denied if number not in _CHANGES_MODE[machine]]
    else:
        denied += _STARTS_PROCESSES[machine]
    for number in denied:
        program += number_is(number, [refuse(errno.EPERM)])
    allow: Instruction = (_RETURN, 0, 0, _ALLOW)
    program += number_is(
        _SOCKET[machine],
        [load(_FIRST_ARGUMENT_AT), (_JUMP_EQUAL, 1, 0, _AF_UNIX), refuse(errno.EACCES), allow],
    )
    program += number_is(
        _KILL[machine],
        [
            load(_FIRST_ARGUMENT_AT),
            (_JUMP_EQUAL, 1, 0, _EVERY_PROCESS),
            (_JUMP_EQUAL, 0, 1, _OWN_GROUP),
            refuse(errno.EPERM),
            allow,
        ],
    )
    if not processes:
        program += number_is(_CLONE3, [refuse(errno.ENOSYS)])  # the C library falls back to clone
        program += number_is(
            _CLONE[machine],
            [
                load(_FIRST_ARGUMENT_AT),
                (_JUMP_SET, 1, 0, _CLONE_THREAD),
                refuse(errno.EPERM),
                allow,
            ],
        )
    program.append(allow)
    return program


_CHANGES_MODE = {"x86_64": (90, 91, 268, 452), "aarch64": (52, 53, 452)}


def prepare_restrictions(*, processes: bool) -> None:
    """Make the filter of `restrict_calls` now, for every process that is forked later."""
    if platform.machine() in _ARCHITECTURES:
        _packed_program(platform.machine(), processes=processes)


def restrict_calls(*, processes: bool) -> bool:
    """Take system calls away from every thread of this process: sockets, administration.

    Args:
        processes: whether new processes may be started (a library that compiles its operators).

    Returns:
        Whether the kernel and this machine type allow it.
    """
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        return False
    packed = _packed_program(machine, processes=processes)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    count = len(packed) // _INSTRUCTION.size
    description = struct.pack("=H6xQ", count, ctypes.addressof(buffer))  # struct sock_fprog
    _forbid_new_privileges()
    result = _LIBC.syscall(_SECCOMP[machine], _SET_MODE_FILTER, _FLAG_TSYNC, description)
    return int(result) == 0


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
