"""Harmless attempts at forbidden operations, made by a worker to check its confinement.

Each attempt targets an object that ciguard has created for it, or changes nothing: the signal is
number 0, limits are only read, and created objects are removed.
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

Probe = dict[str, Any]
"""Objects that the attempts target, and the permissions of the worker.

- `guard`: process id of ciguard.
- `stream`: path of a listening Unix socket.
- `abstract`: name of a listening abstract socket.
- `port`: a listening TCP port.
- `file`: path of a file outside the worker's folders.
- `processes`: true if the worker may start processes.
- `devices`: true if the worker uses a device, whose driver needs shared memory.
"""

_LIBC = ctypes.CDLL(None, use_errno=True)
_IO_URING_SETUP, _PIDFD_OPEN, _PIDFD_GETFD = 425, 434, 438
_AF_NETLINK, _AF_ALG, _AF_VSOCK = 16, 38, 40
_AT_FDCWD = -100
_REFUSALS = frozenset({errno.EPERM, errno.EACCES, errno.ENOSYS})
"""Errors of a refused operation; with any other error, the kernel would have allowed it."""
ALLOWED = "allowed"


class Attempt(NamedTuple):
    """One attempt at a forbidden operation."""

    name: str
    """Short, stable name."""
    attack: str
    """Description that completes the sentence "a worker can …"."""
    make: Callable[[Probe], object]
    """Function that makes the attempt; it raises `OSError` if the operation is refused."""


class _AllowedError(Exception):
    """The operation is allowed to the workers of this target."""


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def _allow_devices(probe: Probe) -> None:
    if probe.get("devices"):
        raise _AllowedError


def _connect(family: int, address: Any) -> None:
    with socket.socket(family) as connection:
        connection.connect(address)


def _open_sockets(_: Probe) -> None:
    refused = 0
    families = (socket.AF_INET, socket.AF_INET6, _AF_NETLINK, _AF_ALG, _AF_VSOCK)
    for family in families:
        try:
            socket.socket(family, socket.SOCK_DGRAM).close()
        except OSError as error:
            refused += error.errno in {*_REFUSALS, errno.EAFNOSUPPORT}
    if refused == len(families):
        raise PermissionError(errno.EPERM, "all socket families are refused")


def _send_from_pair(probe: Probe) -> None:
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with first, second:
        first.sendto(b"", probe["stream"])


def _make_ring(_: Probe) -> None:
    os.close(_checked(_LIBC.syscall(_IO_URING_SETUP, 1, ctypes.create_string_buffer(120))))


def _take_descriptor(probe: Probe) -> None:
    handle = _checked(_LIBC.syscall(_PIDFD_OPEN, probe["guard"], 0))
    os.close(_checked(_LIBC.syscall(_PIDFD_GETFD, handle, 0, 0)))


def _open_process(probe: Probe) -> None:
    os.close(os.open(f"/proc/{probe['guard']}/environ", os.O_RDONLY))


def _attempt_signal_by_descriptor(probe: Probe) -> None:
    reading, writing = os.pipe()
    try:
        fcntl.fcntl(reading, fcntl.F_SETOWN, probe["guard"])
    finally:
        os.close(reading)
        os.close(writing)


def _map_shared(probe: Probe) -> None:
    _allow_devices(probe)
    mmap.mmap(-1, mmap.PAGESIZE).close()


def _map_zeros(probe: Probe) -> None:
    _allow_devices(probe)
    descriptor = os.open("/dev/zero", os.O_RDWR)
    try:
        mmap.mmap(descriptor, mmap.PAGESIZE).close()
    finally:
        os.close(descriptor)


def _make_file_in_memory(probe: Probe) -> None:
    _allow_devices(probe)
    os.close(_checked(_LIBC.memfd_create(b"ciguard", 0)))


def _make_shared_segment(_: Probe) -> None:
    identifier = _checked(_LIBC.shmget(0, mmap.PAGESIZE, 0o1600))
    _LIBC.shmctl(identifier, 0, None)  # IPC_RMID


def _set_times(probe: Probe) -> None:
    status = os.stat(probe["file"])
    os.utime(probe["file"], ns=(status.st_atime_ns, status.st_mtime_ns))


def _set_mode(probe: Probe) -> None:
    os.chmod(probe["file"], os.stat(probe["file"]).st_mode & 0o7777)


def _set_attribute(probe: Probe) -> None:
    os.setxattr(probe["file"], "user.ciguard", b"1")


def _take_handle(probe: Probe) -> None:
    handle = ctypes.create_string_buffer((128).to_bytes(4, sys.byteorder) + bytes(132))
    mount, path = ctypes.c_int(), os.fsencode(probe["file"])
    _checked(_LIBC.name_to_handle_at(_AT_FDCWD, path, handle, ctypes.byref(mount), 0))


def _read_file(probe: Probe) -> None:
    os.close(os.open(probe["file"], os.O_RDONLY))


def _write_file(probe: Probe) -> None:
    os.close(os.open(probe["file"], os.O_WRONLY))


def _write_beside(_: Probe) -> None:
    path = os.path.join(os.pardir, "ciguard-attempt")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
    os.unlink(path)


def _fork(probe: Probe) -> None:
    if probe["processes"]:
        raise _AllowedError
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


ATTEMPTS = (
    Attempt(
        "unix-socket",
        "connect to a daemon such as Docker's on a Unix socket",
        lambda probe: _connect(socket.AF_UNIX, probe["stream"]),
    ),
    Attempt(
        "abstract-socket",
        "connect to a daemon on an abstract socket",
        lambda probe: _connect(socket.AF_UNIX, "\0" + probe["abstract"]),
    ),
    Attempt("datagram", "send a datagram to a socket's path from a socket pair", _send_from_pair),
    Attempt(
        "network",
        "connect to a port of this machine",
        lambda probe: _connect(socket.AF_INET, ("127.0.0.1", probe["port"])),
    ),
    Attempt("sockets", "open a UDP, netlink, vsock or other socket", _open_sockets),
    Attempt("io-uring", "create an io_uring queue, whose system calls no filter sees", _make_ring),
    Attempt("descriptors", "copy a file descriptor of another process", _take_descriptor),
    Attempt("processes-read", "read the environment of ciguard", _open_process),
    Attempt(
        "limits",
        "access the resource limits of another process",
        lambda probe: resource.prlimit(probe["guard"], resource.RLIMIT_CPU),
    ),
    Attempt("signals", "signal another process", lambda probe: os.kill(probe["guard"], 0)),
    Attempt(
        "signals-threads",
        "signal a thread of another process",
        lambda probe: _checked(_LIBC.tgkill(probe["guard"], probe["guard"], 0)),
    ),
    Attempt(
        "signals-handles",
        "signal another process through a process descriptor",
        lambda probe: signal.pidfd_send_signal(  # type: ignore[attr-defined, unused-ignore]
            _checked(_LIBC.syscall(_PIDFD_OPEN, probe["guard"], 0)), 0
        ),
    ),
    Attempt(
        "signals-kernel", "make the kernel signal another process", _attempt_signal_by_descriptor
    ),
    Attempt("memory-shared", "map shared memory, which no limit counts", _map_shared),
    Attempt("memory-device", "map shared memory of /dev/zero", _map_zeros),
    Attempt("memory-file", "create a file in memory, which no limit counts", _make_file_in_memory),
    Attempt("memory-segment", "create shared memory that outlives it", _make_shared_segment),
    Attempt("file-read", "read a file outside its folders", _read_file),
    Attempt("file-write", "write a file outside its folders", _write_file),
    Attempt("file-beside", "write next to its own folder", _write_beside),
    Attempt("file-times", "set the timestamps of a file outside its folders", _set_times),
    Attempt("file-mode", "set the mode of a file outside its folders", _set_mode),
    Attempt("file-attributes", "set attributes of a file outside its folders", _set_attribute),
    Attempt("file-handles", "get a handle of a file outside its folders", _take_handle),
    Attempt(
        "namespaces",
        "create a namespace",
        lambda _: _checked(_LIBC.unshare(0x10000000)),  # CLONE_NEWUSER
    ),
    Attempt("processes-start", "start a process", _fork),
)


def report(probe: Probe) -> None:
    """Make all attempts; print one JSON object with the error that refused each, or nothing."""
    refusals = {attempt.name: _refusal(attempt, probe) for attempt in ATTEMPTS}
    sys.stdout.write(json.dumps(refusals) + "\n")


def run(settings: Any, descriptor: int) -> None:
    """Make all attempts for each request of the host, which is a `Probe`; see `hosting/host.py`."""
    with socket.socket(fileno=descriptor) as channel, channel.makefile("rw") as stream:
        answer: Any = {"ready": "", "confined_by": settings.get("confined_by", [])}
        stream.write(json.dumps(answer) + "\n")
        stream.flush()
        for line in stream:
            probe = json.loads(line)
            answer = {attempt.name: _refusal(attempt, probe) for attempt in ATTEMPTS}
            stream.write(json.dumps(answer) + "\n")
            stream.flush()


def _refusal(attempt: Attempt, probe: Probe) -> str:
    try:
        attempt.make(probe)
    except OSError as error:
        number = error.errno or 0
        return errno.errorcode[number] if number in _REFUSALS else ""
    except _AllowedError:
        return ALLOWED
    except AttributeError:
        return "ENOSYS"  # neither this C library nor this Python has the call
    return ""
