"""What hostile code tries from inside a worker, one attack per function; no campaign calls them.

Each returns what it achieved, or raises the `OSError` that stopped it.
"""

# ruff: noqa: PTH101, PTH107, PTH110, PTH123, PTH202, S103 - attacks on the system itself

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import struct
import threading
import time

_LIBC = ctypes.CDLL(None, use_errno=True)
_IO_URING_SETUP, _PIDFD_OPEN, _PIDFD_GETFD, _SETXATTRAT = 425, 434, 438, 463
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


# --- connections ----------------------------------------------------------------------------------


def connect_to_daemon(path: str) -> str:
    """Talk to a daemon on a Unix socket, as docker's is."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b"run me as root")
    return "connected"


def send_datagram(path: str) -> str:
    """Send to a socket's path from one end of a pair that was allowed."""
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with first, second:
        first.sendto(b"from a pair", path)
    return "sent"


def connect_abstract(name: str) -> str:
    """Talk to a daemon on an abstract socket, which no folder holds."""
    return connect_to_daemon("\0" + name)


def connect_own_pair() -> str:
    """Talk over a pair of connected sockets, as `asyncio` does."""
    first, second = socket.socketpair()
    with first, second:
        first.sendall(b"to itself")
        return second.recv(100).decode()


def open_family(family: int, kind: int, protocol: int) -> str:
    """Open a socket of some family."""
    socket.socket(family, kind, protocol).close()
    return "opened"


def send_udp(port: int) -> str:
    """Send a packet to this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.sendto(b"secret", ("127.0.0.1", port))
    return "sent"


def make_ring() -> str:
    """Make a queue whose entries are system calls that no filter sees."""
    parameters = ctypes.create_string_buffer(120)
    os.close(_checked(_LIBC.syscall(_IO_URING_SETUP, 4, parameters)))
    return "made"


# --- other processes ------------------------------------------------------------------------------


def steal_descriptor(process: int, descriptor: int) -> str:
    """Take a descriptor of another process."""
    handle = _checked(_LIBC.syscall(_PIDFD_OPEN, process, 0))
    os.close(_checked(_LIBC.syscall(_PIDFD_GETFD, handle, descriptor, 0)))
    return "taken"


def open_memory(process: int) -> str:
    """Open the memory of another process for writing."""
    with open(f"/proc/{process}/mem", "r+b", buffering=0):
        return "opened"


def trace(process: int) -> str:
    """Stop another process as a debugger does."""
    _LIBC.ptrace.restype = ctypes.c_long
    _checked(_LIBC.ptrace(0x4206, process, None, None))  # PTRACE_SEIZE
    return "traced"


def limit_cpu(process: int) -> str:
    """Have the kernel kill another process when it next runs for a second."""
    most = resource.RLIM_INFINITY
    resource.prlimit(process, resource.RLIMIT_CPU, (3600 * 24, most))
    return "limited"


def pin(process: int) -> str:
    """Hold another process on one processor."""
    os.sched_setaffinity(process, os.sched_getaffinity(process))
    return "pinned"


def send_signal(process: int) -> str:
    """Send another process a signal, here none."""
    os.kill(process, 0)
    return "sent"


def send_signal_to_thread(process: int) -> str:
    """Send one to a thread, here none."""
    _checked(_LIBC.tgkill(process, process, 0))
    return "sent"


def queue_signal(process: int) -> str:
    """Queue one with a value, here none."""
    _checked(_LIBC.sigqueue(process, 0, None))
    return "sent"


def send_signal_to_handle(process: int) -> str:
    """Send one by way of a handle, here none."""
    signal.pidfd_send_signal(os.pidfd_open(process), 0)
    return "sent"


def send_signal_by_pipe(process: int) -> str:
    """Have the kernel signal another process when a pipe can be read."""
    reading, _ = os.pipe()
    fcntl.fcntl(reading, fcntl.F_SETOWN, process)
    return "arranged"


def signal_itself() -> str:
    """Send itself the signals that `abort` and timers send."""
    os.kill(os.getpid(), 0)
    _checked(_LIBC.tgkill(os.getpid(), threading.get_native_id(), 0))
    resource.prlimit(0, resource.RLIMIT_CORE)
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    return "sent"


# --- memory ---------------------------------------------------------------------------------------


def share_memory(how: str) -> str:
    """Take 1 MiB that no limit of the process counts."""
    size = 1024 * 1024
    if how == "file":
        os.ftruncate(os.memfd_create("planted"), size)
    elif how == "map":
        mmap.mmap(-1, size).close()
    else:
        identifier = _checked(_LIBC.shmget(0, size, 0o1600))
        _LIBC.shmctl(identifier, 0, None)  # IPC_RMID: a test leaves nothing behind
    return "taken"


def map_zeros(mib: int) -> str:
    """Take shared memory of the device that gives zeros."""
    memory = mmap.mmap(os.open("/dev/zero", os.O_RDWR), mib * 1024 * 1024)
    for place in range(0, len(memory), mmap.PAGESIZE):
        memory[place] = 1
    return f"taken {len(memory)}"


def make_queue(how: str) -> str:
    """Make a queue or a semaphore that outlives the process."""
    if how == "messages":
        _LIBC.msgctl(_checked(_LIBC.msgget(0, 0o1600)), 0, None)
    else:
        _LIBC.semctl(_checked(_LIBC.semget(0, 1, 0o1600)), 0, 0)
    return "made"


# --- files of others ------------------------------------------------------------------------------


def set_time(path: str) -> str:
    """Change when a file was changed."""
    os.utime(path, (1, 1))
    return "changed"


def set_mode(path: str) -> str:
    """Let everybody write a file."""
    os.chmod(path, 0o777)
    return "changed"


def set_owner(path: str) -> str:
    """Give a file to somebody else."""
    os.chown(path, 1, 1)
    return "changed"


def set_attribute(path: str) -> str:
    """Add an attribute to a file."""
    os.setxattr(path, "user.planted", b"1")
    return "changed"


def remove_attribute(path: str) -> str:
    """Take an attribute from a file."""
    os.removexattr(path, "user.kept")
    return "changed"


def set_attribute_anew(path: str) -> str:
    """Add an attribute to a file by the call of Linux 6.13."""
    value = ctypes.create_string_buffer(b"1")
    arguments = struct.pack("=QII", ctypes.addressof(value), 1, 0)
    name = b"user.planted"
    _checked(_LIBC.syscall(_SETXATTRAT, -100, path.encode(), 0, name, arguments, len(arguments)))
    return "changed"


def handle_of(path: str) -> str:
    """Take a handle by which a file can be opened whatever its path is."""
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    _checked(_LIBC.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount), 0))
    return "taken"


def cut_short(path: str) -> str:
    """Empty a file."""
    os.truncate(path, 0)
    return "emptied"


def write_beside(worker: int) -> str:
    """Write into the folder of another worker."""
    with open(f"../{worker}/planted", "w", encoding="ascii") as file:
        file.write("planted")
    return "written"


# --- the machine ----------------------------------------------------------------------------------


def fill_disk(mib: int) -> str:
    """Write many large files, and wait to be noticed."""
    for number in range(mib // 32):
        with open(f"large-{number}", "wb") as file:
            file.write(bytes(32 * 1024 * 1024))
    time.sleep(1)
    return "filled"


def fill_deleted(mib: int) -> str:
    """Write many large files that have no name any more."""
    kept = []
    for number in range(mib // 32):
        kept.append(open(f"large-{number}", "wb", buffering=0))  # noqa: SIM115 - kept on purpose
        os.remove(f"large-{number}")
        kept[-1].write(bytes(32 * 1024 * 1024))
    time.sleep(1)
    return f"filled {len(kept)}"


def fill_hidden(mib: int) -> str:
    """Hide from the server what is open, then write files that have no name any more."""
    _checked(_LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))
    return fill_deleted(mib)


def fill_mapped(mib: int) -> str:
    """Write many large files that have no name any more and are not open either."""
    kept = []
    for number in range(mib // 32):
        with open(f"large-{number}", "w+b", buffering=0) as file:
            file.write(bytes(32 * 1024 * 1024))
            kept.append(_LIBC.mmap(None, 32 << 20, 1, 1, file.fileno(), 0))
        os.remove(f"large-{number}")
    time.sleep(1)
    return f"filled {len(kept)}"


def print_for_ever() -> None:
    """Fill what ciguard keeps of what is printed."""
    while True:
        os.write(1, bytes(1024 * 1024))


def make_files(count: int) -> str:
    """Make many empty files, and wait to be noticed."""
    for number in range(count):
        os.close(os.open(f"empty-{number}", os.O_CREAT | os.O_WRONLY))
    time.sleep(1)
    return "made"


def start_threads(count: int) -> str:
    """Start many threads that wait."""
    threading.stack_size(64 * 1024)
    for _ in range(count):
        threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
    time.sleep(2)
    return "started"


def leave_daemon(note: str, threads: int = 0, mib: int = 0) -> str:
    """Leave a process that belongs to nobody, and note its number; it may take much."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            _LIBC.prctl(_PR_SET_PDEATHSIG, 0, 0, 0, 0)
            with open(note, "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
            threading.stack_size(64 * 1024)
            for _ in range(threads):
                threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
            with open(f"{note}-deleted", "wb", buffering=0) as file:
                os.unlink(file.name)  # noqa: PTH108 - fewer calls that may be refused
                for _ in range(mib):
                    file.write(bytes(2**20))
                time.sleep(60)
        os._exit(0)
    with contextlib.suppress(ChildProcessError):
        os.wait()
    while not (os.path.exists(note) and os.path.getsize(note)):
        time.sleep(0.01)
    return "left"
