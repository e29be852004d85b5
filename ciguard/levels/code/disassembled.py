"""What level `code` asks of a seed program, and of a program put together from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.code.blocks import Block, BlockInput


class CompleteProgram(Protocol):
    """A program put together."""

    @property
    def source(self) -> str:
        """Its text."""

    @property
    def adapter(self) -> str:
        """What was put before the output layer; empty: nothing."""

    def line(self, block: int, place: int) -> int:
        """Return the line of a block's call, or of the block's beginning where it has none."""


class DisassembledSeed(Protocol):
    """A seed program, taken apart."""

    @property
    def name(self) -> str:
        """Unique among the seeds."""

    @property
    def source(self) -> str:
        """Its text."""

    @property
    def blocks(self) -> Sequence[Block]:
        """Its hidden layers, in order."""

    def program(
        self, chain: Sequence[Block], gives: BlockInput, met: BlockInput
    ) -> CompleteProgram:
        """Return the program with these blocks.

        Args:
            chain: the blocks.
            gives: what the last one gives to the output layer.
            met: what the output layer met in the seed.

        Raises:
            DisassemblyError: if they cannot be put together.
        """

    def alone(self, block: Block, takes: BlockInput) -> CompleteProgram:
        """Return a program that runs one block forwards and backwards.

        Raises:
            DisassemblyError: if it cannot be run alone.
        """

    def observing(self) -> str:
        """Return the seed with what its blocks are called with among its variables."""

    def fitted(
        self, block: Block, was: BlockInput, now: BlockInput, rank: int | None = None
    ) -> Block | None:
        """Return a block for a slot in which it is called with something else; None for none.

        Args:
            block: to fit.
            was: what it met in the seed.
            now: what it is called with.
            rank: of what it takes; None for the same as in the seed.
        """
