"""Protocols of a seed program that is split into blocks, and of a program assembled from blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.code.blocks import Block, BlockTensor


class CompleteProgram(Protocol):
    """An assembled program."""

    @property
    def source(self) -> str:
        """Text of the program."""

    @property
    def adapter(self) -> str:
        """Expression of the adapter before the output layer; empty for none."""

    def line(self, block: int, place: int) -> int:
        """Return the line of a call, by the indices of its block and of the call in the block.

        If the block lacks that call, the result is the line of its first call, or 0.
        """


class DisassembledSeed(Protocol):
    """A seed program, split into blocks."""

    @property
    def name(self) -> str:
        """Name of the program, unique among the seeds."""

    @property
    def source(self) -> str:
        """Text of the program."""

    @property
    def blocks(self) -> Sequence[Block]:
        """Hidden layers, in the order of the data."""

    def program(
        self, chain: Sequence[Block], result_form: BlockTensor, output_layer_input: BlockTensor
    ) -> CompleteProgram:
        """Return the program that has a chain of blocks before the template's output layer.

        Args:
            chain: the blocks, which take the place of the seed's first blocks; the seed's other
                blocks are left out.
            result_form: shape and dtype of the last block's result, to which the output layer is
                fitted.
            output_layer_input: shape and dtype of the output layer's input in the seed.

        Raises:
            DisassemblyError: if the blocks cannot be assembled.
        """

    def alone(self, block: Block, input_form: BlockTensor) -> CompleteProgram:
        """Return a program that runs one block forwards and backwards.

        Raises:
            DisassemblyError: if the block cannot run alone.
        """

    def observing(self) -> str:
        """Return the seed, which also assigns the input of each block to a global variable."""

    def fitted(
        self, block: Block, old: BlockTensor, new: BlockTensor, rank: int | None = None
    ) -> Block | None:
        """Return a block fitted to another input; None if it cannot be fitted.

        Args:
            block: the block to fit.
            old: the form of the block's input in the seed.
            new: the form of the new input.
            rank: the rank of the inputs that the block accepts; None for the rank in the seed.
        """
