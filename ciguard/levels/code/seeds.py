"""A seed program, taken apart: what trees are grown from."""

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
    """A program put together, and where its calls are."""

    source: str
    lines: tuple[tuple[int, ...], ...]
    adapter: str
    """What was put before the output layer; empty: nothing."""

    def line(self, block: int, place: int) -> int:
        """Return the line of one call of one block; that of its first where it has not so many."""
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
        """Take a program apart.

        Raises:
            DisassemblyError: if it cannot be.
        """
        parts = disassemble(source, library, name=name)
        return cls(name, parts.template, parts.blocks)

    @property
    def source(self) -> str:
        """Its text."""
        return self.template.source

    def program(
        self, chain: Sequence[Block], gives: BlockInput, met: BlockInput
    ) -> AssembledProgram:
        """Return the program with these first blocks.

        Args:
            chain: the blocks.
            gives: what the last one gives to the output layer, which is made to fit.
            met: what the output layer met in the seed.

        Raises:
            DisassemblyError: if they cannot be put together.
        """
        made = replace(self.template, met=met).program(chain, gives)
        return AssembledProgram(made.source, made.lines, made.adapter)

    def alone(self, block: Block, takes: BlockInput) -> AssembledProgram:
        """Return a program that runs one block forwards and backwards.

        Raises:
            DisassemblyError: if the block cannot be run alone.
        """
        made = self.template.alone(block, takes)
        return AssembledProgram(made.source, made.lines, made.adapter)

    def observing(self) -> str:
        """Return the seed with what its blocks are called with among its variables."""
        return self.template.observing()

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
        fit = fitted(block, was, now, self.template.dialect, rank=rank)
        return None if fit is None else fit[0]
