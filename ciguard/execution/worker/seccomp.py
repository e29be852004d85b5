"""The seccomp filter of a confined process, which refuses all calls that `syscalls` omits.

Source: Linux Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import platform
import struct
from typing import TYPE_CHECKING

from ciguard.execution.worker.syscall_numbers import MACHINES, number_of
from ciguard.execution.worker.syscalls import OWN_PROCESS, When, bound_calls, plain_calls

if TYPE_CHECKING:
    from ciguard.execution.worker.syscalls import ProcessRole

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, and constant, as in `struct sock_filter`."""

_LOAD, _AND, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_SET_MODE_FILTER, _FLAG_TSYNC = 1, 1
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_UNIFIED = 424
"""First number of the newer calls, which have the same number on all machines.

They are refused with ENOSYS, so that the C library falls back to older calls."""
_PACKING = struct.Struct("=HBBI")
_LIBC = ctypes.CDLL(None, use_errno=True)


def is_supported() -> bool:
    """Return whether the numbers of this machine's system calls are known."""
    return platform.machine() in MACHINES


def install(role: ProcessRole) -> bool:
    """Permanently restrict the system calls of every thread of this process.

    The process must have set `PR_SET_NO_NEW_PRIVS` before.

    Returns:
        True if the kernel and this machine type support it.
    """
    if not is_supported():
        return False
    packed = program(role, platform.machine(), os.getpid())
    buffer = ctypes.create_string_buffer(packed, len(packed))
    count = len(packed) // _PACKING.size
    description = struct.pack("=H6xQ", count, ctypes.addressof(buffer))  # struct sock_fprog
    number = _SECCOMP[platform.machine()]
    return int(_LIBC.syscall(number, _SET_MODE_FILTER, _FLAG_TSYNC, description)) == 0


def program(role: ProcessRole, machine: str, process: int) -> bytes:
    """Return the filter of a process: first the rules that contain its id, then shared ones."""
    instructions = [
        _load(_ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        _answer(_KILL_PROCESS),  # another ABI numbers its calls differently
        _load(_NUMBER_AT),
    ]
    own, _ = _split_by_process(role)
    for name in own:
        instructions += _conditional_rule(name, bound_calls(role)[name], machine, process)
    return _packed(instructions) + shared_program(role, machine)


@functools.cache
def shared_program(role: ProcessRole, machine: str) -> bytes:
    """Return the part of the filter that is the same in every process of a role."""
    _, others = _split_by_process(role)
    instructions: list[Instruction] = []
    for name in others:
        instructions += _conditional_rule(name, bound_calls(role)[name], machine, 0)
    for name in plain_calls(role):
        instructions += _rule(name, machine, [_answer(_ALLOW)])
    instructions += [
        (_JUMP_AT_LEAST, 0, 1, _UNIFIED),
        _answer(_ERRNO | errno.ENOSYS),
        _answer(_ERRNO | errno.EPERM),
    ]
    return _packed(instructions)


def _split_by_process(role: ProcessRole) -> tuple[list[str], list[str]]:
    """Return the names of the calls whose rules contain the process id, and of the others."""
    bound = bound_calls(role)
    own = [
        name
        for name, conditions in bound.items()
        if any(OWN_PROCESS in condition.allowed for condition in conditions)
    ]
    return own, [name for name in bound if name not in own]


def _conditional_rule(
    name: str, conditions: tuple[When, ...], machine: str, process: int
) -> list[Instruction]:
    """Return the instructions that allow a call if all its conditions hold."""
    body: list[Instruction] = []
    for condition in conditions:
        body += _refuse_unless(condition, process)
    return _rule(name, machine, [*body, _answer(_ALLOW)])


def _refuse_unless(condition: When, process: int) -> list[Instruction]:
    """Return the instructions that refuse a call unless the condition holds."""
    listed = condition.allowed or condition.refused
    values = [process if value == OWN_PROCESS else value for value in listed]
    comparisons: list[Instruction] = []
    for remaining in reversed(range(len(values))):
        value = values[len(values) - 1 - remaining]
        # An allowed value jumps over the refusal, a refused value jumps to it.
        if_equal = remaining + 1 if condition.allowed else remaining
        if_different = int(remaining == 0 and not condition.allowed)
        comparisons.append((_JUMP_EQUAL, if_equal, if_different, value))
    load = [_load(_ARGUMENTS_AT + 8 * condition.argument), (_AND, 0, 0, condition.mask)]
    return [*load, *comparisons, _answer(_ERRNO | condition.error)]


def _rule(name: str, machine: str, body: list[Instruction]) -> list[Instruction]:
    number = number_of(name, machine)
    return [] if number is None else [(_JUMP_EQUAL, 0, len(body), number), *body]


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _answer(action: int) -> Instruction:
    return (_RETURN, 0, 0, action)


def _packed(instructions: list[Instruction]) -> bytes:
    return b"".join(_PACKING.pack(*instruction) for instruction in instructions)
