"""A seed program of three blocks that needs no library, and outcomes of its programs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.programs import Derivation, Operator, ProgramCase
from ciguard.execution.worker.summarise import Summariser
from ciguard.levels.code.blocks import Block, BlockMutant, BlockTensor, LibraryCall

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ciguard.domain.outcomes import Outcome

SHAPE = (4, 6)


class _NoAdapter:
    def read(self, output: object) -> None:
        del output


def passed(**variables: object) -> Passed:
    """Return the outcome of a program that passes with these global variables."""
    text = Summariser(_NoAdapter()).encode({"block": "", "outputs": variables})
    return Passed(text, 0.1)


@dataclass(frozen=True)
class ExampleAssembly:
    """Stand-in for an assembled program."""

    source: str
    adapter: str = ""

    def line(self, block: int, place: int) -> int:
        return 10 * block + place


def call(api: str, **keywords: str) -> LibraryCall:
    return LibraryCall(api=api, keywords=tuple(keywords.items()), makes_layer=True)


@dataclass(frozen=True)
class Program:
    """Stand-in for a seed program; its programs are JSON texts."""

    name: str = "tower"
    source: str = "seed"
    blocks: tuple[Block, ...] = (
        Block(name="one", calls=(call("lib.Dense", units="4"),)),
        Block(name="two", calls=(call("lib.ReLU"), call("lib.Dense", units="8"))),
        Block(name="three", calls=()),
    )

    def program(
        self, chain: Sequence[Block], result_form: BlockTensor, output_layer_input: BlockTensor
    ) -> ExampleAssembly:
        assert output_layer_input.shape == SHAPE
        return ExampleAssembly(
            json.dumps(["whole", [_description(block) for block in chain], result_form.shape])
        )

    def alone(self, block: Block, input_form: BlockTensor) -> ExampleAssembly:
        return ExampleAssembly(json.dumps(["alone", [_description(block)], input_form.shape]))

    def observing(self) -> str:
        return "observing"

    def fitted(
        self, block: Block, old: BlockTensor, new: BlockTensor, rank: int | None = None
    ) -> Block | None:
        del rank
        if len(old.shape) == len(new.shape):
            return block
        return replace(block, adapter="x.flatten(1)") if len(new.shape) > 1 else None


def _description(block: Block) -> list[object]:
    return [block.name, [[call.api, *map(list, call.keywords)] for call in block.calls]]


@dataclass
class ExampleMutation:
    """Stand-in for AR and RG, which draws another API name or another number of units."""

    operator: Operator

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        old = block.calls[place]
        if self.operator is Operator.REPLACEMENT:
            new = replace(old, api=f"lib.Other{rng.randrange(3)}")
            step = Derivation(
                block=block.name, line=0, api=new.api, operator=self.operator, after=new.api
            )
        else:
            new = replace(old, keywords=(("units", str(rng.randrange(1, 64))),))
            step = Derivation(
                block=block.name,
                line=0,
                api=new.api,
                operator=self.operator,
                parameter="units",
                after=new.keywords[0][1],
            )
        return BlockMutant(block.with_call(place, new), step)


class ExampleBoundary:
    """Stand-in for BC, with 0 and -1 units as illegal values."""

    def mutants(self, block: Block, place: int) -> list[BlockMutant]:
        mutants = []
        for text in ("0", "-1"):
            new = replace(block.calls[place], keywords=(("units", text),))
            step = Derivation(
                block=block.name,
                line=0,
                api=new.api,
                operator=Operator.BOUNDARY,
                parameter="units",
                after=text,
                sentence="Positive integer.",
            )
            mutants.append(BlockMutant(block.with_call(place, new), step))
        return mutants


def outcome_of(case: ProgramCase) -> Outcome:
    """Return the outcome of an example program: 0 units are refused, but -1 units are accepted."""
    if case.source == "observing":
        variables = {f"fed_{n}": np.zeros(SHAPE, np.float32) for n in range(1, 5)}
        return passed(**variables)
    if '"0"' in case.source:
        return Rejected("ValueError", "units must be positive")
    return passed(y=np.zeros(SHAPE, np.float32), loss=0.5)
