"""System calls that a confined process may make, by role. All others are refused.

An allowlist stays safe when a kernel adds system calls. Calls that Landlock controls (access to
files by path) are allowed without conditions. Calls that it does not control are omitted, or
restricted by their arguments: modes, owners, timestamps, attributes, shared memory, signals, and
further kinds of sockets. `docs/security.md` shows these tables.

Sources: syscalls(2) and the manual page of each call.
"""

from __future__ import annotations

import errno
import functools
from typing import Mapping, NamedTuple

OWN_PROCESS = -1
"""Placeholder in a condition for the id of the filtered process."""
_ALL_BITS = 0xFFFFFFFF


class When(NamedTuple):
    """A condition on the lower 32 bits of an argument, the only ones that these calls use."""

    argument: int
    """Index of the argument."""
    qualified_name: str
    """Description that completes the sentence "allowed for …"."""
    allowed: tuple[int, ...] = ()
    """Values that are allowed; if empty, all that are not refused."""
    refused: tuple[int, ...] = ()
    """Values that are refused."""
    mask: int = _ALL_BITS
    """Bits of the argument that are compared."""
    error: int = errno.EPERM
    """Error that a refused call returns."""


class ProcessRole(NamedTuple):
    """Purpose of a confined process, which determines its system calls."""

    imports: bool = False
    """True if the process imports the library and forks workers; false if it runs cases."""
    processes: bool = False
    """True if its cases may start processes, as libraries that compile operators do."""
    devices: bool = False
    """True if it uses a GPU, whose driver needs additional calls."""
    truncates: bool = False
    """True if Landlock controls the truncation of files, as from its version 3 on."""
    loopback: bool = False
    """True if it may connect to ports that Landlock allows, as from its version 4 on."""


# fmt: off
EVERYWHERE: dict[str, tuple[str, ...]] = {
    "memory": (
        "brk", "mprotect", "munmap", "mremap", "madvise", "mincore", "msync", "mlock", "mlock2",
        "munlock", "mlockall", "munlockall", "membarrier", "mbind", "get_mempolicy",
        "set_mempolicy", "pkey_alloc", "pkey_free", "pkey_mprotect",
    ),
    "files, which Landlock controls": (
        "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev",
        "preadv2", "pwritev2", "open", "openat", "creat", "close", "close_range", "dup", "dup2",
        "dup3", "lseek", "access", "faccessat", "faccessat2", "stat", "lstat", "fstat",
        "newfstatat", "statx", "statfs", "fstatfs", "getdents", "getdents64", "getcwd", "chdir",
        "fchdir", "readlink", "readlinkat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat",
        "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "ftruncate",
        "fallocate", "fadvise64", "readahead", "fsync", "fdatasync", "sync_file_range", "flock",
        "sendfile", "copy_file_range", "splice", "umask", "getxattr", "lgetxattr", "fgetxattr",
        "listxattr", "llistxattr", "flistxattr",
    ),
    "threads, waiting, time": (
        "futex", "futex_waitv", "set_robust_list", "get_robust_list", "set_tid_address", "rseq",
        "sched_yield", "sched_getaffinity", "sched_getattr", "sched_getparam",
        "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
        "sched_rr_get_interval", "exit", "exit_group", "wait4", "waitid", "restart_syscall",
        "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl",
        "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "pipe", "pipe2",
        "nanosleep", "clock_nanosleep", "pause", "alarm", "getitimer", "setitimer",
        "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime",
        "timerfd_create", "timerfd_gettime", "timerfd_settime",
    ),
    "signals received": (
        "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend",
        "rt_sigtimedwait", "sigaltstack", "signalfd", "signalfd4",
    ),
    "information about the process and the machine": (
        "getpid", "getppid", "gettid", "getpgid", "getpgrp", "getsid", "getuid", "geteuid",
        "getgid", "getegid", "getresuid", "getresgid", "getgroups", "getpriority", "capget",
        "getrlimit", "getrusage", "times", "sysinfo", "uname", "getcpu", "getrandom", "time",
        "gettimeofday", "clock_gettime", "clock_getres", "arch_prctl", "setrlimit",
    ),
    "existing connections": (
        "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown",
        "getsockname", "getpeername", "getsockopt", "setsockopt",
    ),
}
# fmt: on
"""System calls that every confined process may make, by purpose."""

_PROCESSES = ("fork", "vfork", "execve", "execveat", "setsid", "setpgid")
_IMPORTS = (
    *_PROCESSES,
    *("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"),
    *("pidfd_open", "seccomp"),
)
_CONNECTIONS = ("connect", "accept", "accept4")
_DEVICES = (
    *("memfd_create", "mknod", "mknodat", "sched_setparam", "sched_setscheduler"),
    *("bind", "listen"),  # on the driver's kind of socket, see `_DEVICE_SOCKETS`
)

_CLONE_THREAD, _CLONE_PARENT, _NEW_NAMESPACES = 0x00010000, 0x00008000, 0x7E020000
_SHARED_AND_ANONYMOUS = 0x21
_AF_UNIX, _STREAM, _SEQUENCED, _KIND_OF_SOCKET = 1, 1, 5, 0xF
_AF_INET, _ANY_PROTOCOL, _TCP = 2, 0, 6
_FAST_OPEN = 0x20000000
_SET_OWNERS = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX: signals on behalf of the kernel
_PLAIN_IOCTLS = (
    *(0x5401, 0x540F, 0x5413, 0x541B),  # TCGETS, TIOCGPGRP, TIOCGWINSZ, FIONREAD
    *(0x5421, 0x5450, 0x5451),  # FIONBIO, FIONCLEX, FIOCLEX
)
_HARMFUL_IOCTLS = (0x5412, 0x541C, 0x5452, 0x8901, 0x8902)
# TIOCSTI, TIOCLINUX, FIOASYNC, FIOSETOWN, SIOCSPGRP
_PLAIN_PRCTLS = (2, 3, 15, 16, 21, 23, 29, 30, 39, 41, 42, 0x53564D41)
# Get parent's death signal, get dumpable, set and get name, get seccomp, read capability,
# set and get timer slack, get no new privileges, set and get no huge pages, name memory
_OWN_RISK_PRCTLS = (1, 4, 38)
# Set parent's death signal, dumpable (otherwise the quota cannot see files), no new privileges

_TO_ITSELF = {
    name: When(0, "the process itself", allowed=(OWN_PROCESS,))
    for name in ("tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
}
_TO_ITSELF["kill"] = When(0, "the process itself or its group", allowed=(OWN_PROCESS, 0))
_TO_DOMAIN = {
    name: When(0, "a process in its Landlock domain, but not all at once", refused=(0xFFFFFFFF,))
    for name in _TO_ITSELF
}
_ITSELF = When(0, "the process itself (0)", allowed=(0,))
_NO_FAST_OPEN = "messages that open no connection"
# Landlock controls `connect`, but neither Multipath TCP nor the data of a first packet.
_SOCKETS = {
    "socket": (
        When(0, "IPv4", allowed=(_AF_INET,)),
        When(1, "streams", allowed=(_STREAM,), mask=_KIND_OF_SOCKET),
        When(2, "TCP, to the only port that Landlock allows", allowed=(_ANY_PROTOCOL, _TCP)),
    ),
    "sendto": (When(3, _NO_FAST_OPEN, refused=(_FAST_OPEN,), mask=_FAST_OPEN),),
    "sendmsg": (When(2, _NO_FAST_OPEN, refused=(_FAST_OPEN,), mask=_FAST_OPEN),),
    "sendmmsg": (When(3, _NO_FAST_OPEN, refused=(_FAST_OPEN,), mask=_FAST_OPEN),),
}
# CUDA opens one to share memory with its own processes, and looks for a server of its Multi-Process
# Service. Daemons such as Docker's use streams.
_DEVICE_SOCKETS = {
    "socket": (
        When(0, "Unix sockets", allowed=(_AF_UNIX,)),
        When(1, "sequenced packets", allowed=(_SEQUENCED,), mask=_KIND_OF_SOCKET),
    ),
    "connect": (
        When(
            0,
            "nothing: `ENOENT`, as if no server existed",
            allowed=(0xFFFFFFFF,),
            error=errno.ENOENT,
        ),
    ),
}


@functools.cache
def plain_calls(role: ProcessRole) -> tuple[str, ...]:
    """Return the names of the calls that a role may make with any arguments."""
    names = [name for group in EVERYWHERE.values() for name in group]
    if role.processes:
        names += _PROCESSES
    if role.imports:
        names += _IMPORTS
    if role.devices:
        names += [*_DEVICES, "mmap"]
    if role.truncates:
        names.append("truncate")
    if role.loopback:
        names = [name for name in names if name not in _SOCKETS] + list(_CONNECTIONS)
    return tuple(dict.fromkeys(names))


@functools.cache
def bound_calls(role: ProcessRole) -> Mapping[str, tuple[When, ...]]:
    """Return the conditions of the calls that a role may make with certain arguments only."""
    starts = role.imports or role.processes
    bound: dict[str, tuple[When, ...]] = {
        "mmap": (
            When(
                3,
                "memory of its own or a file",
                refused=(_SHARED_AND_ANONYMOUS,),
                mask=_SHARED_AND_ANONYMOUS,
            ),
        ),
        "ioctl": (_ioctls(role),),
        "fcntl": (When(1, "all commands but those that signal others", refused=_SET_OWNERS),),
        "clone": _clones(starts=starts),
        "socketpair": (
            When(0, "Unix sockets", allowed=(_AF_UNIX,)),
            When(
                1,
                "streams and sequenced packets, which reach no other process",
                allowed=(_STREAM, _SEQUENCED),
                mask=_KIND_OF_SOCKET,
            ),
        ),
        "prctl": (_prctls(role),),
        "prlimit64": (_ITSELF,),
        "sched_setaffinity": (_ITSELF,),
        **(
            {
                name: (condition,)
                for name, condition in (_TO_DOMAIN if starts else _TO_ITSELF).items()
            }
        ),
        **(_DEVICE_SOCKETS if role.devices else {}),
        **(_SOCKETS if role.loopback else {}),
    }
    plain = plain_calls(role)
    return {name: conditions for name, conditions in bound.items() if name not in plain}


def _ioctls(role: ProcessRole) -> When:
    if role.devices:
        meaning = "all requests but those that signal others or inject input"
        return When(1, meaning, refused=_HARMFUL_IOCTLS)
    meaning = "size and kind of a terminal, waiting bytes, flags of a descriptor"
    return When(1, meaning, allowed=_PLAIN_IOCTLS, error=errno.ENOTTY)


def _clones(*, starts: bool) -> tuple[When, ...]:
    foreign = _NEW_NAMESPACES | _CLONE_PARENT
    no_namespaces = When(0, "children without new namespaces", allowed=(0,), mask=foreign)
    if starts:
        return (no_namespaces,)
    return (When(0, "threads", allowed=(_CLONE_THREAD,), mask=_CLONE_THREAD), no_namespaces)


def _prctls(role: ProcessRole) -> When:
    allowed = (*_PLAIN_PRCTLS, *(_OWN_RISK_PRCTLS if role.imports else ()))
    return When(0, "its own name, timers and huge pages", allowed=allowed)
