"""The filter of system calls, run by an interpreter of its own: on both machines' numbers."""

from __future__ import annotations

import errno
import struct

import pytest

from ciguard.execution.worker.seccomp import program
from ciguard.execution.worker.syscall_numbers import MACHINES, number_of
from ciguard.execution.worker.syscalls import ProcessRole, bound_calls, plain_calls

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SOCKET = {"x86_64": 41, "aarch64": 198}
CHMOD = {"x86_64": 268, "aarch64": 53}
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
OWN, OTHER = 4242, 17
ROLES = [
    ProcessRole(),
    ProcessRole(processes=True),
    ProcessRole(imports=True),
    ProcessRole(devices=True, truncates=True),
    ProcessRole(loopback=True),
    ProcessRole(imports=True, loopback=True),
]


def answer(packed: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Return what a filter answers to a call, as the kernel would."""
    given = struct.pack("=IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    instructions = list(struct.iter_unpack("=HBBI", packed))
    at = accumulator = 0
    while True:
        code, met, unmet, constant = instructions[at]
        at += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", given, constant)
            case 0x54:
                accumulator &= constant
            case 0x15:
                at += met if accumulator == constant else unmet
            case 0x35:
                at += met if accumulator >= constant else unmet
            case 0x06:
                return int(constant)
            case _:
                pytest.fail(f"no such instruction: {code:#x}")


def of(machine: str, role: ProcessRole, name: str, *arguments: int) -> int:
    number = number_of(name, machine)
    assert number is not None
    return answer(program(role, machine, OWN), ARCHITECTURES[machine], number, *arguments)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("role", ROLES)
def test_a_process_may_make_the_calls_of_its_role_and_no_others(
    machine: str, role: ProcessRole
) -> None:
    packed = program(role, machine, OWN)
    named = {number_of(name, machine) for name in (*plain_calls(role), *bound_calls(role))}

    for name in plain_calls(role):
        if number_of(name, machine) is not None:
            assert of(machine, role, name) == ALLOW, name
    for number in range(600):
        if number not in named:
            code = errno.ENOSYS if number >= 424 else errno.EPERM
            assert answer(packed, ARCHITECTURES[machine], number) == ERRNO | code, number


@pytest.mark.parametrize("machine", MACHINES)
def test_sockets_and_file_modes_are_never_allowed(machine: str) -> None:
    for role in ROLES:
        packed = program(role, machine, OWN)
        for number in (SOCKET[machine], CHMOD[machine]):
            refused = answer(packed, ARCHITECTURES[machine], number, 1)
            assert refused == ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "is_allowed"),
    [
        ("kill", (OWN,), True),
        ("kill", (0,), True),
        ("kill", (OTHER,), False),
        ("kill", (0xFFFFFFFF,), False),
        ("kill", (2**64 - OTHER,), False),
        ("tgkill", (OWN, OWN), True),
        ("tgkill", (OTHER, OTHER), False),
        ("rt_sigqueueinfo", (OTHER,), False),
        ("prlimit64", (0,), True),
        ("prlimit64", (OTHER,), False),
        ("prlimit64", (OWN,), False),
        ("clone", (0x3D0F00,), True),
        ("clone", (0x11,), False),
        ("clone", (0x10000 | 0x10000000,), False),
        ("mmap", (0, 4096, 3, 0x22), True),
        ("mmap", (0, 4096, 3, 0x21), False),
        ("mmap", (0, 4096, 3, 0x23), False),
        ("mmap", (0, 4096, 3, 0x01), True),
        ("socketpair", (1, 1 | 0x80000), True),
        ("socketpair", (1, 5), True),
        ("socketpair", (1, 2), False),
        ("socketpair", (2, 1), False),
        ("fcntl", (3, 1), True),
        ("fcntl", (3, 8), False),
        ("fcntl", (3, 15), False),
        ("prctl", (15,), True),
        ("prctl", (1,), False),
        ("prctl", (36,), False),
    ],
)
def test_a_worker_may_signal_only_itself(
    machine: str, name: str, arguments: tuple[int, ...], *, is_allowed: bool
) -> None:
    assert (of(machine, ProcessRole(), name, *arguments) == ALLOW) is is_allowed


@pytest.mark.parametrize("machine", MACHINES)
def test_a_role_that_starts_processes_cannot_create_namespaces(machine: str) -> None:
    for role in (ProcessRole(processes=True), ProcessRole(imports=True)):
        assert of(machine, role, "clone", 0x11) == ALLOW
        assert of(machine, role, "clone", 0x11 | 0x10000000) == ERRNO | errno.EPERM
        assert of(machine, role, "kill", OTHER) == ALLOW
        assert of(machine, role, "kill", 0xFFFFFFFF) == ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_a_call_of_another_machine_type_kills_the_process(machine: str) -> None:
    assert answer(program(ProcessRole(), machine, OWN), 0x40000003, 1) == KILL


def test_calls_with_x32_numbers_are_refused() -> None:
    packed = program(ProcessRole(), "x86_64", OWN)

    assert answer(packed, ARCHITECTURES["x86_64"], 0x40000000 | 57) == ERRNO | errno.ENOSYS
