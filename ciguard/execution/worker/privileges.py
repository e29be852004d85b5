"""What a process may do beyond its files: privileges of root, tracing, outliving its parent."""

from __future__ import annotations

import ctypes
import signal
import struct

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


def forbid_new_privileges() -> None:
    """Give up gaining any by starting another program, without which nobody may be confined.

    Raises:
        OSError: if the kernel refuses.
    """
    if _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")


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
