"""Signs that a process died of corrupted memory: the kind of crash that attackers look for."""

from __future__ import annotations

import re

_SIGNALS = frozenset({"SIGSEGV", "SIGBUS"})
_ON_DEVICES = frozenset({"CUDA illegal memory access", "CUDA misaligned address"})
"""How a kernel is ended for touching memory that is not its own; the device's memory is meant."""
_SIGN = re.compile(
    r"\bfree\(\): |\bmalloc\(\)|\brealloc\(\): |\bcalloc\(\): |munmap_chunk\(\)|double free"
    r"|\bcorrupted (?:size|double-linked|unsorted)|malloc_consolidate|sysmalloc|unlink_chunk"
    r"|stack smashing detected|buffer overflow detected|smallbin|fastbin|unaligned tcache"
    r"|AddressSanitizer: (?:heap|stack|global|SEGV|use-after|attempting|unknown)"
    r"|[Cc]aught segfault at address|tcmalloc.*(?:invalid pointer|corrupt)"
)
_ADDRESS = re.compile(
    r"(?:[Cc]aught segfault at address|SEGV on unknown address) (?:0x)?([0-9a-fA-F]+|\(nil\))"
)
_NEAR_NULL = 0x10000
"""The lowest pages are never mapped: to touch them is to follow a null pointer."""


def is_memory_fault(cause: str) -> bool:
    """Return whether a process was ended for touching memory that is not its own."""
    return cause in _SIGNALS


def corruption_line(log: str) -> str:
    """Return the line by which an allocator or a sanitizer says so; empty if none does."""
    found = _SIGN.search(log)
    return log[found.start() :].splitlines()[0] if found else ""


def may_corrupt(cause: str, log: str) -> bool:
    """Return whether a death hints at memory that was read or written out of bounds.

    A fault of unknown address counts: few libraries print it. One near zero is a null pointer.
    """
    found = _ADDRESS.search(log)
    if found is not None:
        address = found[1]
        return address != "(nil)" and int(address, 16) >= _NEAR_NULL
    return is_memory_fault(cause) or cause in _ON_DEVICES or bool(corruption_line(log))
