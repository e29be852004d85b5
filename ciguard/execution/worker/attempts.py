"""Harmless attempts at what confinement is to refuse, made by a worker to show that it holds.

Each is made on what ciguard has put there for it, or changes nothing: the signal is number 0, the
limit is only read, what is made is removed.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import sys
from typing import Any, Callable, NamedTuple

Bait = dict[str, Any]
"""`guard`, ciguard's process; `stream`, a Unix socket that listens; `abstract`, the name of
another; `port`, of a TCP socket; `file`, one outside; `processes`, whether workers may start some;
`devices`, whether they compute on one, whose driver shares memory with the kernel.
"""

_LIBC = ctypes.CDLL(None, use_errno=True)
_IO_URING_SETUP, _PIDFD_OPEN, _PIDFD_GETFD = 425, 434, 438
_AF_NETLINK, _AF_ALG, _AF_VSOCK = 16, 38, 40
_HERE = -100
_REFUSALS = frozenset({errno.EPERM, errno.EACCES, errno.ENOSYS})
"""What confinement answers; any other error comes from a kernel that would have done it."""
ALLOWED = "allowed"


class Attempt(NamedTuple):
    """One attempt."""

    name: str
    attack: str
    """What is tried, for people: ends the sentence "a worker can …"."""
    make: Callable[[Bait], object]
    """Returns if it got through; raises `OSError` where it was refused."""


class _AllowedError(Exception):
    """The attempt is none: workers of this target may do it."""


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _allow_devices(bait: Bait) -> None:
    if bait.get("devices"):
        raise _AllowedError


def _connect(family: int, address: Any) -> None:
    with socket.socket(family) as connection:
        connection.connect(address)


def _open_sockets(_: Bait) -> None:
    refused = 0
    families = (socket.AF_INET, socket.AF_INET6, _AF_NETLINK, _AF_ALG, _AF_VSOCK)
    for family in families:
        try:
            socket.socket(family, socket.SOCK_DGRAM).close()
        except OSError as error:
            refused += error.errno in {*_REFUSALS, errno.EAFNOSUPPORT}
    if refused == len(families):
        raise PermissionError(errno.EPERM, "all were refused")


def _send_from_pair(bait: Bait) -> None:
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with first, second:
        first.sendto(b"", bait["stream"])


def _make_ring(_: Bait) -> None:
    os.close(_checked(_LIBC.syscall(_IO_URING_SETUP, 1, ctypes.create_string_buffer(120))))


def _take_descriptor(bait: Bait) -> None:
    handle = _checked(_LIBC.syscall(_PIDFD_OPEN, bait["guard"], 0))
    os.close(_checked(_LIBC.syscall(_PIDFD_GETFD, handle, 0, 0)))


def _open_process(bait: Bait) -> None:
    os.close(os.open(f"/proc/{bait['guard']}/environ", os.O_RDONLY))


def _arrange_signal(bait: Bait) -> None:
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(reading, fcntl.F_SETOWN, bait["guard"])
    finally:
        os.close(reading)
        os.close(writing)


def _map_shared(bait: Bait) -> None:
    _allow_devices(bait)
    mmap.mmap(-1, mmap.PAGESIZE).close()


def _map_zeros(bait: Bait) -> None:
    _allow_devices(bait)
    descriptor = os.open("/dev/zero", os.O_RDWR)
    try:
        mmap.mmap(descriptor, mmap.PAGESIZE).close()
    finally:
        os.close(descriptor)


def _make_file_in_memory(bait: Bait) -> None:
    _allow_devices(bait)
    os.close(_checked(_LIBC.memfd_create(b"ciguard", 0)))


def _make_shared_segment(_: Bait) -> None:
    identifier = _checked(_LIBC.shmget(0, mmap.PAGESIZE, 0o1600))
    _LIBC.shmctl(identifier, 0, None)  # IPC_RMID


def _set_times(bait: Bait) -> None:
    status = os.stat(bait["file"])
    os.utime(bait["file"], ns=(status.st_atime_ns, status.st_mtime_ns))


def _set_mode(bait: Bait) -> None:
    os.chmod(bait["file"], os.stat(bait["file"]).st_mode & 0o7777)


def _set_attribute(bait: Bait) -> None:
    os.setxattr(bait["file"], "user.ciguard", b"1")


def _take_handle(bait: Bait) -> None:
    handle = ctypes.create_string_buffer((128).to_bytes(4, sys.byteorder) + bytes(132))
    mount, path = ctypes.c_int(), os.fsencode(bait["file"])
    _checked(_LIBC.name_to_handle_at(_HERE, path, handle, ctypes.byref(mount), 0))


def _read_file(bait: Bait) -> None:
    os.close(os.open(bait["file"], os.O_RDONLY))


def _write_file(bait: Bait) -> None:
    os.close(os.open(bait["file"], os.O_WRONLY))


def _write_beside(_: Bait) -> None:
    path = os.path.join(os.pardir, "ciguard-attempt")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    os.unlink(path)


def _fork(bait: Bait) -> None:
    if bait["processes"]:
        raise _AllowedError
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


ATTEMPTS = (
    Attempt(
        "unix-socket",
        "talk to a daemon such as docker's on a Unix socket",
        lambda bait: _connect(socket.AF_UNIX, bait["stream"]),
    ),
    Attempt(
        "abstract-socket",
        "talk to a daemon on an abstract socket",
        lambda bait: _connect(socket.AF_UNIX, "\0" + bait["abstract"]),
    ),
    Attempt("datagram", "send to a socket's path from a pair of sockets", _send_from_pair),
    Attempt(
        "network",
        "connect to a port of this machine",
        lambda bait: _connect(socket.AF_INET, ("127.0.0.1", bait["port"])),
    ),
    Attempt("sockets", "open a socket of UDP, netlink, vsock or of another kind", _open_sockets),
    Attempt("io-uring", "make a queue of system calls that no filter sees", _make_ring),
    Attempt("descriptors", "take a descriptor of another process", _take_descriptor),
    Attempt("processes-read", "read the environment of ciguard", _open_process),
    Attempt(
        "limits",
        "reach the limits of another process",
        lambda bait: resource.prlimit(bait["guard"], resource.RLIMIT_CPU),
    ),
    Attempt("signals", "signal another process", lambda bait: os.kill(bait["guard"], 0)),
    Attempt(
        "signals-threads",
        "signal a thread of another process",
        lambda bait: _checked(_LIBC.tgkill(bait["guard"], bait["guard"], 0)),
    ),
    Attempt(
        "signals-handles",
        "signal another process by a handle of it",
        lambda bait: signal.pidfd_send_signal(  # type: ignore[attr-defined, unused-ignore]
            _checked(_LIBC.syscall(_PIDFD_OPEN, bait["guard"], 0)), 0
        ),
    ),
    Attempt("signals-kernel", "have the kernel signal another process", _arrange_signal),
    Attempt("memory-shared", "take shared memory, which no limit counts", _map_shared),
    Attempt("memory-device", "take shared memory of /dev/zero", _map_zeros),
    Attempt("memory-file", "take a file in memory, which no limit counts", _make_file_in_memory),
    Attempt("memory-segment", "make shared memory that outlives it", _make_shared_segment),
    Attempt("file-read", "read a file outside of its folders", _read_file),
    Attempt("file-write", "write a file outside of its folders", _write_file),
    Attempt("file-beside", "write beside its own folder", _write_beside),
    Attempt("file-times", "set the times of a file outside", _set_times),
    Attempt("file-mode", "set the mode of a file outside", _set_mode),
    Attempt("file-attributes", "set attributes of a file outside", _set_attribute),
    Attempt("file-handles", "take a handle of a file outside", _take_handle),
    Attempt(
        "namespaces",
        "enter a namespace of its own",
        lambda _: _checked(_LIBC.unshare(0x10000000)),  # CLONE_NEWUSER
    ),
    Attempt("processes-start", "start a process", _fork),
)


def report(bait: Bait) -> None:
    """Make all attempts; print one line of JSON: by name, what refused it, empty if nothing did."""
    refusals = {attempt.name: _refusal(attempt, bait) for attempt in ATTEMPTS}
    sys.stdout.write(json.dumps(refusals) + "\n")


def run(settings: Any, descriptor: int) -> None:
    """Make all attempts whenever the host asks, which sends the bait; see `hosting/host.py`."""
    with socket.socket(fileno=descriptor) as channel, channel.makefile("rw") as stream:
        answer: Any = {"ready": "", "confined_by": settings.get("confined_by", [])}
        stream.write(json.dumps(answer) + "\n")
        stream.flush()
        for line in stream:
            bait = json.loads(line)
            answer = {attempt.name: _refusal(attempt, bait) for attempt in ATTEMPTS}
            stream.write(json.dumps(answer) + "\n")
            stream.flush()


def _refusal(attempt: Attempt, bait: Bait) -> str:
    try:
        attempt.make(bait)
    except OSError as error:
        number = error.errno or 0
        return errno.errorcode[number] if number in _REFUSALS else ""
    except _AllowedError:
        return ALLOWED
    except AttributeError:
        return "ENOSYS"  # neither this C library nor this Python has the call
    return ""
