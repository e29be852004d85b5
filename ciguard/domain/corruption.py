"""Signs of memory corruption in a crash, which make it relevant to security."""

from __future__ import annotations

import re

_SIGNALS = frozenset({"SIGSEGV", "SIGBUS"})
_DEVICE_FAULTS = frozenset({"CUDA illegal memory access", "CUDA misaligned address"})
"""Errors by which CUDA stops a kernel that accesses device memory out of bounds."""
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
"""The pages below are never mapped: an access to them dereferences a null pointer."""


def is_memory_fault(cause: str) -> bool:
    """Return whether the cause of a crash is a signal for an invalid memory access."""
    return cause in _SIGNALS


def corruption_line(log: str) -> str:
    """Return the first line in which an allocator or sanitizer reports corruption, or ""."""
    match = _CORRUPTION.search(log)
    return log[match.start() :].splitlines()[0] if match else ""


def may_corrupt(cause: str, log: str) -> bool:
    """Return whether a crash may come from an access to memory out of bounds.

    A fault without a logged address counts, since few libraries print it. An address near zero does
    not count: it is a null pointer.
    """
    match = _ADDRESS.search(log)
    if match is not None:
        address = match[1]
        return address != "(nil)" and int(address, 16) >= _MIN_MAPPED_ADDRESS
    return is_memory_fault(cause) or cause in _DEVICE_FAULTS or bool(corruption_line(log))
