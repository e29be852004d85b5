"""Assembly of blocks and a template, into a whole program or a program of one block."""

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
from ciguard.levels.code.running import recorder_statements, run_statements
from ciguard.levels.code.slicing import creation_statements
from ciguard.levels.code.uses import rewrite_usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.code.blocks import Block, BlockTensor
    from ciguard.levels.code.dialects import Dialect
    from ciguard.levels.code.places import BlockPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """An assembled program, and the lines of its blocks."""

    source: str
    """Text of the program."""
    lines: tuple[tuple[int, ...], ...] = ()
    """For each block, the lines of its calls, counted from 1."""
    adapter: str = ""
    """Adapter before the output layer, an expression of the data `x`; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTemplate:
    """A seed program with a slot for each of its blocks."""

    source: str
    """Text of the seed."""
    dialect: Dialect
    """Dialect of the seed's library."""
    style: Style
    """Style in which the seed's model is written."""
    owner: str
    """The class or function that contains the model; empty for the top level."""
    data: str
    """Name of the variable that holds the model's input."""
    variable: str
    """Name of the variable to which a sequential model is assigned; empty if unknown."""
    places: tuple[BlockPlace, ...]
    """One place per block; the last one is the output layer's."""
    blocks: tuple[Block, ...]
    """The seed's own blocks; the last one is the output layer, which stays in the template."""
    tail: tuple[BlockPlace, ...]
    """Places that follow the output layer in the same expression or list."""
    definitions: dict[str, int] = field(repr=False)
    """Numbers of statements, by the name that each defines; without a block that needs the name,
    such a statement is removed."""
    output_layer_input: BlockTensor | None = None
    """Form of the output layer's input in the seed, see `observing`; None while unknown. Then no
    adapter is inserted before the output layer."""

    @property
    def slot_count(self) -> int:
        """Number of blocks, not counting the output layer."""
        return len(self.places) - 1

    def program(self, chain: Sequence[Block], result_form: BlockTensor | None = None) -> Assembled:
        """Return the program that has a chain of blocks before the output layer.

        Args:
            chain: the blocks, which take the place of the seed's first blocks; the seed's other
                blocks are left out.
            result_form: the form of the last block's result, to which the output layer is fitted.
                None leaves the output layer unchanged; a chain of all blocks of the seed then
                gives the seed.

        Raises:
            DisassemblyError: if the output layer cannot be fitted, or a block's adapter cannot be
                inserted before the block.
        """
        output = self._fitting_output(result_form)
        draft = self._draft()
        nodes = self._fill(draft, {**dict(enumerate(chain)), self.slot_count: output})
        source, lines = draft.text(nodes)
        return Assembled(source=source, lines=lines[: len(chain)], adapter=output.adapter)

    def alone(self, block: Block, input_form: BlockTensor) -> Assembled:
        """Return a program that runs one block alone, forwards and backwards.

        The program assigns the block's result for a random input to the global variable `y`.

        Args:
            block: a block for this template; its name identifies its place.
            input_form: the form of the block's input.

        Raises:
            DisassemblyError: if the statements that create the model are not recognised.
        """
        index = [seed_block.name for seed_block in self.blocks].index(block.name)
        draft = self._draft()
        self._truncate_after_output(draft)
        nodes = self._fill(draft, {index: block}, tail=False)
        self._set_input_shape(draft, input_form)
        statements, model = creation_statements(
            draft.program, self.style, self.owner, self.variable
        )
        draft.program.tree.body = statements
        run = ast.parse(run_statements(self.dialect.library, model, input_form))
        draft.program.tree.body += draft.spell_names(run).body  # type: ignore[arg-type, attr-defined]  # the visitor takes any node
        source, lines = draft.text([nodes[0]])
        return Assembled(source=source, lines=lines)

    def observing(self) -> str:
        """Return the seed, which also assigns the first input of each block to a global variable.

        The variables are `fed_1`, `fed_2`, …; the last one is the input of the output layer.
        """
        draft = self._draft()
        for number, place in enumerate(self.places, start=1):
            adapt(draft, place, f"_Seen({number})(x)")
        recording = draft.spell_names(ast.parse(recorder_statements(self.dialect.library)))  # type: ignore[arg-type]  # the visitor takes any node
        draft.insert_at_top(ast.unparse(recording))
        ending = "\n".join(f"fed_{n} = _fed[{n}]" for n in range(1, len(self.places) + 1))
        draft.program.tree.body += ast.parse(ending).body
        source, _ = draft.text([])
        return source

    # --- steps ------------------------------------------------------------------------------------

    def _draft(self) -> Draft:
        return Draft(Program(self.source, self.dialect), self.style, self.data)

    def _fitting_output(self, form: BlockTensor | None) -> Block:
        """Return the output layer for an input of a form; unchanged if the form is None."""
        output_layer = self.blocks[-1]
        if form is None:
            return output_layer
        fit = fitted(output_layer, self.output_layer_input or form, form, self.dialect)
        if fit is None:
            msg = f"the output layer cannot be fitted to {form.dtype} data of shape {form.shape}"
            raise DisassemblyError(msg)
        return fit[0]

    def _fill(
        self, draft: Draft, present: dict[int, Block], *, tail: bool = True
    ) -> list[list[ast.AST]]:
        """Put blocks into their slots, by index, and empty the other slots.

        Args:
            draft: the program to edit.
            present: blocks by the index of their slot.
            tail: False to remove what follows the output layer, too.

        Returns:
            For each block of `present`, the nodes of its calls.
        """
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
        for use, text in draft.usage_rewrites:
            rewrite_usage(draft, use, text)
        return nodes

    def _remove_definitions(self, draft: Draft, absent: Sequence[BlockPlace]) -> None:
        """Remove definitions that no block needs any more, and calls of empty sequences."""
        for place in absent:
            if place.sequences and place.keys:
                draft.skip_empty(place)
        unneeded = {key for place in absent for key in place.keys} & self.definitions.keys()
        for key in sorted(unneeded):
            if not draft.is_read(key, self.owner):
                draft.delete(self.definitions[key])

    def _truncate_after_output(self, draft: Draft) -> None:
        """Make the model end with the output layer, without what follows it."""
        if self.style in {Style.METHOD, Style.FUNCTION, Style.SYMBOLIC}:
            end_after(draft, self.places[-1])

    def _set_input_shape(self, draft: Draft, form: BlockTensor) -> None:
        """Change the declarations of the program's symbolic inputs to a form's shape and dtype."""
        if self.dialect.conventions.infers_sizes and self.style in {
            Style.SYMBOLIC,
            Style.SEQUENCE,
            Style.ADDED,
        }:
            reshape_inputs(draft, form.shape[1:], form.dtype)
