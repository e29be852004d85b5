"""Peaks of calls in JAX, on an allocator that remembers the highest peak of all calls only."""

from __future__ import annotations

import weakref

from hypothesis import given
from hypothesis import strategies as st

from ciguard.libraries.jax.in_target.device_memory import DeviceMemory

BLOCK = 256


class Block:
    """Memory that is in use as long as this object lives."""


class Allocator:
    """Allocates whole blocks, as that of XLA does."""

    def __init__(self) -> None:
        self.in_use = self.highest = 0

    def statistics(self) -> dict[str, int]:
        return {"bytes_in_use": self.in_use, "peak_bytes_in_use": self.highest}

    def allocate(self, size: int) -> Block:
        size = -(-size // BLOCK) * BLOCK
        self.in_use += size
        self.highest = max(self.highest, self.in_use)
        block = Block()
        weakref.finalize(block, self._free, size)
        return block

    def _free(self, size: int) -> None:
        self.in_use -= size


@given(earlier=st.integers(0, 1 << 30), kept=st.integers(0, 1 << 20), taken=st.integers(0, 1 << 20))
def test_the_peak_is_that_of_the_call_and_not_of_earlier_ones(
    earlier: int, kept: int, taken: int
) -> None:
    allocator = Allocator()
    memory = DeviceMemory(allocator.statistics, allocator.allocate)
    block = allocator.allocate(earlier)
    del block
    held = allocator.allocate(kept)

    before = memory.read()
    block = allocator.allocate(taken)
    del block
    after = memory.read()

    assert before is not None
    assert after is not None
    assert before[0] == after[0] == -(-kept // BLOCK) * BLOCK
    assert after[1] - before[0] == -(-taken // BLOCK) * BLOCK
    del held


def test_an_allocator_without_statistics_has_no_memory() -> None:
    assert DeviceMemory(lambda: None, bytearray).read() is None
    assert DeviceMemory(lambda: {"bytes_in_use": 1}, bytearray).read() is None
