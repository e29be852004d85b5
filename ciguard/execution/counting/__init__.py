"""Counts of executed instructions, taken in processes that run under Valgrind's callgrind."""

from ciguard.execution.counting.process import (
    CountingProcess,
    decode_count,
    find_valgrind,
    instructions_request,
)

__all__ = ["CountingProcess", "decode_count", "find_valgrind", "instructions_request"]
