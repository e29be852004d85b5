"""Privileges of a process beyond its files: capabilities, tracing, and outliving its parent."""

from __future__ import annotations

import ctypes
import signal
import struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38


def exit_with_parent() -> None:
    """Make the kernel kill this process when its parent exits for any reason."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def hide_from_siblings() -> None:
    """Prevent other processes of this user from accessing this one's descriptors and memory.

    Forked children inherit this until they execute another program. Only CAP_SYS_PTRACE bypasses
    it, see `drop_capabilities`.
    """
    _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def forbid_new_privileges() -> None:
    """Prevent this process from gaining privileges, which the kernel requires for confinement.

    Raises:
        OSError: if the kernel refuses.
    """
    if _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")


_CAPABILITY_VERSION_3 = 0x20080522
_KEPT_CAPABILITIES = (
    1 << 1 | 1 << 2
)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, as Landlock restricts files


def drop_capabilities() -> bool:
    """Drop every capability except that of opening files, which Landlock controls.

    With CAP_SYS_ADMIN or CAP_PERFMON, a process could read any environment in spite of Landlock.

    Returns:
        True if the kernel allowed it.
    """
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    current = ctypes.create_string_buffer(24)
    if _LIBC.capget(header, current) != 0:
        return False
    effective, permitted = struct.unpack_from("=II", current.raw)
    reduced = (effective & _KEPT_CAPABILITIES, permitted & _KEPT_CAPABILITIES, 0)
    return int(_LIBC.capset(header, struct.pack("=IIIIII", *reduced, 0, 0, 0))) == 0
