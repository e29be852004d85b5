"""Signs of memory corruption in a crash, which make it relevant to security."""

from __future__ import annotations

import re

from ciguard.domain.memory_errors import MEMORY_ERRORS

_SIGNALS = frozenset({"SIGSEGV", "SIGBUS"})
_DEVICE_FAULTS = frozenset(
    f"CUDA {error}"
    for error in (
        "illegal memory access", "misaligned address", "invalid address space",
        "invalid program counter", "stack error",
    )
)  # fmt: skip
"""Errors with which CUDA stops a kernel after an invalid access to device memory."""
_CORRUPTION = re.compile(
    r"\bfree\(\): |\bmalloc\(\)|\brealloc\(\): |\bcalloc\(\): |munmap_chunk\(\)|double free"
    r"|\bcorrupted (?:size|double-linked|unsorted)|malloc_consolidate|sysmalloc|unlink_chunk"
    r"|stack smashing detected|buffer overflow detected|smallbin|fastbin|unaligned tcache"
    r"|AddressSanitizer: (?:heap|stack|global|SEGV|use-after|attempting|unknown)"
    r"|[Cc]aught segfault at address|tcmalloc.*(?:invalid pointer|corrupt)"
)
_ADDRESS = re.compile(
    r"(?:[Cc]aught segfault at address|SEGV on unknown address) (?:0x)?([0-9a-fA-F]+|\(nil\))"
)
_MIN_MAPPED_ADDRESS = 0x10000
"""Lowest address that can be mapped. An access below it dereferences a null pointer."""


def is_memory_fault(cause: str) -> bool:
    """Return whether the cause of a crash is a signal for an invalid memory access."""
    return cause in _SIGNALS


def corruption_line(log: str) -> str:
    """Return the first line in which an allocator or sanitizer reports corruption, or ""."""
    match = _CORRUPTION.search(log)
    return log[match.start() :].splitlines()[0] if match else ""


def may_corrupt(cause: str, log: str) -> bool:
    """Return whether an out-of-bounds memory access may have caused a crash.

    A memory fault whose address is not logged counts, because few libraries log the address. A
    fault near address zero does not count: it dereferences a null pointer.

    Args:
        cause: signal, exit status or device error, as in `Crashed.cause`.
        log: last output of the crashed process.
    """
    match = _ADDRESS.search(log)
    if cause in MEMORY_ERRORS:
        return True
    if match is not None:
        address = match[1]
        return address != "(nil)" and int(address, 16) >= _MIN_MAPPED_ADDRESS
    return is_memory_fault(cause) or cause in _DEVICE_FAULTS or bool(corruption_line(log))
