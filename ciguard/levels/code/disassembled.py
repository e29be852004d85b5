"""Protocols of a seed program that is split into blocks, and of programs assembled from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.code.blocks import Block, BlockInput


class CompleteProgram(Protocol):
    """An assembled program."""

    @property
    def source(self) -> str:
        """Text of the program."""

    @property
    def adapter(self) -> str:
        """Adapter before the output layer; empty for none."""

    def line(self, block: int, place: int) -> int:
        """Return the line of a block's call; the block's first line if it has no such call."""


class DisassembledSeed(Protocol):
    """A seed program, split into blocks."""

    @property
    def name(self) -> str:
        """Name, unique among the seeds."""

    @property
    def source(self) -> str:
        """Text of the program."""

    @property
    def blocks(self) -> Sequence[Block]:
        """Hidden layers, in order."""

    def program(
        self, chain: Sequence[Block], gives: BlockInput, met: BlockInput
    ) -> CompleteProgram:
        """Return the program with these blocks.

        Args:
            chain: the blocks.
            gives: the form of the last block's result, the input of the output layer.
            met: the form of the output layer's input in the seed.

        Raises:
            DisassemblyError: if the blocks cannot be assembled.
        """

    def alone(self, block: Block, takes: BlockInput) -> CompleteProgram:
        """Return a program that runs one block forwards and backwards.

        Raises:
            DisassemblyError: if the block cannot run alone.
        """

    def observing(self) -> str:
        """Return the seed with the inputs of its blocks among its variables."""

    def fitted(
        self, block: Block, was: BlockInput, now: BlockInput, rank: int | None = None
    ) -> Block | None:
        """Return a block fitted to another input; None if it cannot be fitted.

        Args:
            block: the block to fit.
            was: the form of its input in the seed.
            now: the form of its new input.
            rank: the rank that it accepts; None for the rank in the seed.
        """
