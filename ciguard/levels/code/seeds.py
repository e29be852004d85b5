"""Seed programs, split into a template and blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.levels.code.disassembly import disassemble
from ciguard.levels.code.fitting import fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.code.assembly import ProgramTemplate
    from ciguard.levels.code.blocks import Block, BlockTensor


@dataclass(frozen=True, slots=True)
class AssembledProgram:
    """A program that was assembled from blocks."""

    source: str
    """Text of the program."""
    lines: tuple[tuple[int, ...], ...]
    """Lines of the calls of each block, counted from 1; 0 for a call that was removed."""
    adapter: str
    """Expression of the adapter before the output layer; empty for none."""

    def line(self, block: int, place: int) -> int:
        """Return the line of a call, by the indices of its block and of the call in the block.

        If the block lacks that call, the result is the line of its first call, or 0.
        """
        lines = self.lines[block] if block < len(self.lines) else ()
        return lines[place] if place < len(lines) else next(iter(lines), 0)


@dataclass(frozen=True, slots=True)
class SeedProgram:
    """A seed program, split into a template and blocks."""

    name: str
    """Name of the program, unique among the seeds."""
    template: ProgramTemplate
    """The program with a slot for each block."""
    blocks: tuple[Block, ...]
    """Hidden layers, in the order of the data."""

    @classmethod
    def of(cls, source: str, library: str, *, name: str) -> SeedProgram:
        """Return a program split into a template and blocks.

        Raises:
            DisassemblyError: if the program cannot be split.
        """
        parts = disassemble(source, library, name=name)
        return cls(name, parts.template, parts.blocks)

    @property
    def source(self) -> str:
        """Text of the program."""
        return self.template.source

    def program(
        self, chain: Sequence[Block], result_form: BlockTensor, output_layer_input: BlockTensor
    ) -> AssembledProgram:
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
        assembled = replace(self.template, output_layer_input=output_layer_input).program(
            chain, result_form
        )
        return AssembledProgram(assembled.source, assembled.lines, assembled.adapter)

    def alone(self, block: Block, input_form: BlockTensor) -> AssembledProgram:
        """Return a program that runs one block forwards and backwards.

        Raises:
            DisassemblyError: if the block cannot be run alone.
        """
        assembled = self.template.alone(block, input_form)
        return AssembledProgram(assembled.source, assembled.lines, assembled.adapter)

    def observing(self) -> str:
        """Return the seed, which also assigns the input of each block to a global variable."""
        return self.template.observing()

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
        fit = fitted(block, old, new, self.template.dialect, rank=rank)
        return None if fit is None else fit[0]
