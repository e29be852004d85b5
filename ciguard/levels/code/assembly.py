"""Assembly: blocks in a template, as a whole program or as a program of one block."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.adapting import adapt
from ciguard.levels.code.draft import Draft
from ciguard.levels.code.endings import end_after, reshape_inputs
from ciguard.levels.code.fitting import fitted
from ciguard.levels.code.models import Style
from ciguard.levels.code.programs import Program
from ciguard.levels.code.running import recorder, running
from ciguard.levels.code.slicing import creation
from ciguard.levels.code.uses import use_as

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.code.blocks import Block, BlockInput
    from ciguard.levels.code.dialects import Dialect
    from ciguard.levels.code.places import BlockPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """A program, and the lines of its blocks."""

    source: str
    lines: tuple[tuple[int, ...], ...] = ()
    """For each block, the lines of its calls, counted from 1."""
    adapter: str = ""
    """Expression of the data `x` that was inserted before the output layer; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTemplate:
    """A seed program with a slot for each of its blocks."""

    source: str
    """Text of the seed."""
    dialect: Dialect
    style: Style
    owner: str
    """The class or function that contains the model; empty for the top level."""
    data: str
    """Name of the variable that holds the model's input."""
    variable: str
    """Name of the variable that a sequential model is assigned to, if known."""
    places: tuple[BlockPlace, ...]
    """One place per block; the last one is the output layer's."""
    blocks: tuple[Block, ...]
    """The seed's own blocks; the last one is the output layer, which stays in the template."""
    tail: tuple[BlockPlace, ...]
    """Places that follow the output layer in the same expression or list."""
    definitions: dict[str, int] = field(repr=False)
    """Statements by the name that they define; they are removed when no block needs them."""
    met: BlockInput | None = None
    """The output layer's input in the seed, see `observing`. While it is None, no adapter is
    inserted before the output layer."""

    @property
    def slots(self) -> int:
        """Number of blocks, without the output layer."""
        return len(self.places) - 1

    def program(self, chain: Sequence[Block], fed: BlockInput | None = None) -> Assembled:
        """Return the program with some first blocks, and without the others.

        Args:
            chain: the first blocks in their order, with their own calls.
            fed: the data that reaches the output layer, which is fitted to it. None leaves the
                output layer unchanged, so that all of the seed's own blocks give the seed.

        Raises:
            DisassemblyError: if the output layer cannot be fitted, or a block's adapter cannot be
                inserted before the block.
        """
        output = self._fitting_output(fed)
        draft = self._draft()
        nodes = self._fill(draft, {**dict(enumerate(chain)), self.slots: output})
        source, lines = draft.text(nodes)
        return Assembled(source=source, lines=lines[: len(chain)], adapter=output.adapter)

    def alone(self, block: Block, fed: BlockInput) -> Assembled:
        """Return a program that runs one block alone, forwards and backwards.

        Its global `y` is the block's result for a random input.

        Args:
            block: a block of this template, identified by its name.
            fed: the form of the block's input.

        Raises:
            DisassemblyError: if the construction of the model is not recognised.
        """
        index = [own.name for own in self.blocks].index(block.name)
        draft = self._draft()
        self._truncate_after_output(draft)
        nodes = self._fill(draft, {index: block}, tail=False)
        self._set_input_shape(draft, fed)
        statements, model = creation(draft.program, self.style, self.owner, self.variable)
        draft.program.tree.body = statements
        run = ast.parse(running(self.dialect.library, model, fed))
        draft.program.tree.body += draft.spelled(run).body  # type: ignore[arg-type, attr-defined]  # any node can be visited
        source, lines = draft.text([nodes[0]])
        return Assembled(source=source, lines=lines)

    def observing(self) -> str:
        """Return the seed with further globals `fed_1`, `fed_2`, …: the first input of each block.

        They are tensors; the last one is the input of the output layer.
        """
        draft = self._draft()
        for number, place in enumerate(self.places, start=1):
            adapt(draft, place, f"_Seen({number})(x)")
        recording = draft.spelled(ast.parse(recorder(self.dialect.library)))  # type: ignore[arg-type]  # as above
        draft.at_top(ast.unparse(recording))
        ending = "\n".join(f"fed_{n} = _fed[{n}]" for n in range(1, len(self.places) + 1))
        draft.program.tree.body += ast.parse(ending).body
        source, _ = draft.text([])
        return source

    # --- steps ------------------------------------------------------------------------------------

    def _draft(self) -> Draft:
        return Draft(Program(self.source, self.dialect), self.style, self.data)

    def _fitting_output(self, fed: BlockInput | None) -> Block:
        seed = self.blocks[-1]
        if fed is None:
            return seed
        fit = fitted(seed, self.met or fed, fed, self.dialect)
        if fit is None:
            msg = f"the output layer cannot be fitted to an input {fed.shape} of {fed.dtype}"
            raise DisassemblyError(msg)
        return fit[0]

    def _fill(
        self, draft: Draft, present: dict[int, Block], *, tail: bool = True
    ) -> list[list[ast.AST]]:
        """Put blocks into their slots and remove the others; return the nodes of their calls."""
        nodes = [
            draft.change(self.places[index], self.blocks[index], block)
            for index, block in present.items()
        ]
        absent = [place for index, place in enumerate(self.places) if index not in present]
        absent += () if tail else self.tail
        for place in absent:
            draft.remove(place)
        self._remove_definitions(draft, absent)
        for index, block in present.items():
            if block.adapter:
                adapt(draft, self.places[index], block.adapter)
        for place in absent:
            draft.drop_no_op(place)
        for use, text in draft.uses:
            use_as(draft, use, text)
        return nodes

    def _remove_definitions(self, draft: Draft, absent: Sequence[BlockPlace]) -> None:
        """Remove definitions that only absent blocks needed, and calls of empty sequences."""
        for place in absent:
            if place.sequences and place.keys:
                draft.skip_empty(place)
        unneeded = {key for place in absent for key in place.keys} & self.definitions.keys()
        for key in sorted(unneeded):
            if not draft.is_read(key, self.owner):
                draft.delete(self.definitions[key])

    def _truncate_after_output(self, draft: Draft) -> None:
        """Let the model return the result of the output layer, without what follows."""
        if self.style in {Style.METHOD, Style.FUNCTION, Style.SYMBOLIC}:
            end_after(draft, self.places[-1])

    def _set_input_shape(self, draft: Draft, fed: BlockInput) -> None:
        """Give a symbolic input the shape of the actual one."""
        if self.dialect.style.infers_sizes and self.style in {
            Style.SYMBOLIC,
            Style.SEQUENCE,
            Style.ADDED,
        }:
            reshape_inputs(draft, fed.shape[1:], fed.dtype)
