"""Blocks put into a template: whole programs, and programs that run one block alone."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.adapting import adapt
from ciguard.levels.code.editing import Draft
from ciguard.levels.code.endings import end_behind, reshape_inputs
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
    """A program, and where its blocks stand."""

    source: str
    lines: tuple[tuple[int, ...], ...] = ()
    """For each block, from 1: the line of each of its calls."""
    adapter: str = ""
    """What was put before the output layer: an expression of the data `x`; empty: nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTemplate:
    """A seed program with a slot for each of its blocks."""

    source: str
    """The seed's text."""
    dialect: Dialect
    style: Style
    owner: str
    """The class or function that the model stands in; empty: it stands at top level."""
    data: str
    """The variable of the model's input."""
    variable: str
    """That a serial model is given to, where that is known."""
    places: tuple[BlockPlace, ...]
    """One for each block; the last one is the output layer's."""
    blocks: tuple[Block, ...]
    """The seed's own; the last one is the output layer, which stays in the template."""
    tail: tuple[BlockPlace, ...]
    """What follows on the output layer in the same expression or list."""
    definitions: dict[str, int] = field(repr=False)
    """Statements by what they define: they go when no block needs them any more."""
    met: BlockInput | None = None
    """What the output layer meets in the seed; from `observing`, see there. While it is not known,
    nothing is put before the output layer."""

    @property
    def slots(self) -> int:
        """How many blocks there are."""
        return len(self.places) - 1

    def program(self, chain: Sequence[Block], fed: BlockInput | None = None) -> Assembled:
        """Return the program with some first blocks, and without the others.

        Args:
            chain: the first blocks in their order, each with calls of its own.
            fed: what they give to the output layer, which is made to fit; None: it is left as it
                is, so that the seed's own blocks, all of them, give the seed.

        Raises:
            DisassemblyError: if the output layer cannot be made to fit, or a block's adapter cannot
                stand where the block stands.
        """
        output = self._fitting_output(fed)
        draft = self._draft()
        nodes = self._fill(draft, {**dict(enumerate(chain)), self.slots: output})
        source, lines = draft.text(nodes)
        return Assembled(source=source, lines=lines[: len(chain)], adapter=output.adapter)

    def alone(self, block: Block, fed: BlockInput) -> Assembled:
        """Return a program that runs one block alone, forwards and backwards.

        Its global `y` is what the block makes of a random input.

        Args:
            block: of this template, by its name.
            fed: what it is called with.

        Raises:
            DisassemblyError: if the program does not make its model in a way that is understood.
        """
        at = [one.name for one in self.blocks].index(block.name)
        draft = self._draft()
        self._end_at_output(draft)
        nodes = self._fill(draft, {at: block}, tail=False)
        self._feed(draft, fed)
        statements, model = creation(draft.program, self.style, self.owner, self.variable)
        draft.program.tree.body = statements
        run = ast.parse(running(self.dialect.library, model, fed))
        draft.program.tree.body += draft.spelled(run).body  # type: ignore[arg-type, attr-defined]  # a module goes through as an expression does
        source, lines = draft.text([nodes[0]])
        return Assembled(source=source, lines=lines)

    def observing(self) -> str:
        """Return the seed, ending with globals `fed_1`, `fed_2`, …: what each block met first.

        They are tensors; the last one is what the output layer met.
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

    # --- how --------------------------------------------------------------------------------------

    def _draft(self) -> Draft:
        return Draft(Program(self.source, self.dialect), self.style, self.data)

    def _fitting_output(self, fed: BlockInput | None) -> Block:
        seed = self.blocks[-1]
        if fed is None:
            return seed
        fit = fitted(seed, self.met or fed, fed, self.dialect)
        if fit is None:
            msg = f"the output layer cannot be fed {fed.shape} of {fed.dtype}"
            raise DisassemblyError(msg)
        return fit[0]

    def _fill(
        self, draft: Draft, present: dict[int, Block], *, tail: bool = True
    ) -> list[list[ast.AST]]:
        """Put blocks into their slots and take out the others; return the nodes of their calls."""
        nodes = [
            draft.change(self.places[at], self.blocks[at], block) for at, block in present.items()
        ]
        absent = [place for at, place in enumerate(self.places) if at not in present]
        absent += () if tail else self.tail
        for place in absent:
            draft.remove(place)
        self._forget(draft, absent)
        for at, block in present.items():
            if block.adapter:
                adapt(draft, self.places[at], block.adapter)
        for place in absent:
            draft.drop_idle(place)
        for use, text in draft.uses:
            use_as(draft, use, text)
        return nodes

    def _forget(self, draft: Draft, absent: Sequence[BlockPlace]) -> None:
        """Take out definitions that were needed by absent blocks only, and calls of empty ones."""
        for place in absent:
            if place.within and place.keys:
                draft.skip_empty(place)
        gone = {key for place in absent for key in place.keys} & self.definitions.keys()
        for key in sorted(gone):
            if not draft.speaks_of(key, self.owner):
                draft.delete(self.definitions[key])

    def _end_at_output(self, draft: Draft) -> None:
        """Let the model return what the output layer makes, and nothing behind it."""
        if self.style in {Style.METHOD, Style.FUNCTION, Style.SYMBOLIC}:
            end_behind(draft, self.places[-1])

    def _feed(self, draft: Draft, fed: BlockInput) -> None:
        """Let a symbolic input have the shape that is fed."""
        if self.dialect.style.infers_sizes and self.style in {
            Style.SYMBOLIC,
            Style.SEQUENCE,
            Style.ADDED,
        }:
            reshape_inputs(draft, fed.shape[1:], fed.dtype)
