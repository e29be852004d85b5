"""Seed programs, split into a template and blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.levels.code.disassembly import disassemble
from ciguard.levels.code.fitting import fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.code.assembly import ProgramTemplate
    from ciguard.levels.code.blocks import Block, BlockInput


@dataclass(frozen=True, slots=True)
class AssembledProgram:
    """An assembled program, with the lines of its calls."""

    source: str
    lines: tuple[tuple[int, ...], ...]
    adapter: str
    """Adapter before the output layer; empty for none."""

    def line(self, block: int, place: int) -> int:
        """Return the line of a block's call; of its first call if it has no such call."""
        lines = self.lines[block] if block < len(self.lines) else ()
        return lines[place] if place < len(lines) else next(iter(lines), 0)


@dataclass(frozen=True, slots=True)
class SeedProgram:
    """A program with its template and its blocks."""

    name: str
    template: ProgramTemplate
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, source: str, library: str, *, name: str) -> SeedProgram:
        """Return a program split into a template and blocks.

        Raises:
            DisassemblyError: if it cannot be disassembled.
        """
        parts = disassemble(source, library, name=name)
        return cls(name, parts.template, parts.blocks)

    @property
    def source(self) -> str:
        """Text of the program."""
        return self.template.source

    def program(
        self, chain: Sequence[Block], gives: BlockInput, met: BlockInput
    ) -> AssembledProgram:
        """Return the program with these first blocks.

        Args:
            chain: the blocks.
            gives: the form of the last block's result, to which the output layer is fitted.
            met: the form of the output layer's input in the seed.

        Raises:
            DisassemblyError: if the blocks cannot be assembled.
        """
        assembled = replace(self.template, met=met).program(chain, gives)
        return AssembledProgram(assembled.source, assembled.lines, assembled.adapter)

    def alone(self, block: Block, takes: BlockInput) -> AssembledProgram:
        """Return a program that runs one block forwards and backwards.

        Raises:
            DisassemblyError: if the block cannot be run alone.
        """
        assembled = self.template.alone(block, takes)
        return AssembledProgram(assembled.source, assembled.lines, assembled.adapter)

    def observing(self) -> str:
        """Return the seed with the inputs of its blocks among its variables."""
        return self.template.observing()

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
        fit = fitted(block, was, now, self.template.dialect, rank=rank)
        return None if fit is None else fit[0]
