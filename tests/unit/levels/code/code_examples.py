"""A seed program of three blocks that needs no library, and outcomes of its programs."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.programs import Derivation, Operator, ProgramCase
from ciguard.execution.worker.summarise import Summariser
from ciguard.levels.code.blocks import Block, BlockInput, BlockMutant, LibraryCall

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ciguard.domain.outcomes import Outcome

SHAPE = (4, 6)


class _NoAdapter:
    def read(self, output: object) -> None:
        del output


def passed(**variables: object) -> Passed:
    """Return what came of a program that ends with these variables."""
    text = Summariser(_NoAdapter()).encode({"block": "", "outputs": variables})
    return Passed(text, 0.1)


@dataclass(frozen=True)
class Text:
    """What `Assembled` is of the real thing."""

    source: str
    adapter: str = ""

    def line(self, block: int, place: int) -> int:
        return 10 * block + place


def call(api: str, **keywords: str) -> LibraryCall:
    return LibraryCall(api=api, keywords=tuple(keywords.items()), makes_layer=True)


@dataclass(frozen=True)
class Program:
    """A seed whose programs are JSON."""

    name: str = "tower"
    source: str = "seed"
    blocks: tuple[Block, ...] = (
        Block(name="one", calls=(call("lib.Dense", units="4"),)),
        Block(name="two", calls=(call("lib.ReLU"), call("lib.Dense", units="8"))),
        Block(name="three", calls=()),
    )

    def program(self, chain: Sequence[Block], gives: BlockInput, met: BlockInput) -> Text:
        assert met.shape == SHAPE
        return Text(json.dumps(["whole", [_said(block) for block in chain], gives.shape]))

    def alone(self, block: Block, takes: BlockInput) -> Text:
        return Text(json.dumps(["alone", [_said(block)], takes.shape]))

    def observing(self) -> str:
        return "observing"

    def fitted(
        self, block: Block, was: BlockInput, now: BlockInput, rank: int | None = None
    ) -> Block | None:
        del rank
        if len(was.shape) == len(now.shape):
            return block
        return replace(block, adapter="x.flatten(1)") if len(now.shape) > 1 else None


def _said(block: Block) -> list[object]:
    return [block.name, [[call.api, *map(list, call.keywords)] for call in block.calls]]


@dataclass
class Changing:
    """AR or RG: another name, or another number."""

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


class Forbidding:
    """BC: no units at all, or fewer."""

    def mutants(self, block: Block, place: int) -> list[BlockMutant]:
        blocks_made = []
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
            blocks_made.append(BlockMutant(block.with_call(place, new), step))
        return blocks_made


def ran(case: ProgramCase) -> Outcome:
    """Return what comes of a program of these: illegal units are refused, but not -1."""
    if case.source == "observing":
        fed = {f"fed_{n}": np.zeros(SHAPE, np.float32) for n in range(1, 5)}
        return passed(**fed)
    if '"0"' in case.source:
        return Rejected("ValueError", "units must be positive")
    return passed(y=np.zeros(SHAPE, np.float32), loss=0.5)
