"""Programs taken apart and put together again run in real targets, and compute the same."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest
from model_programs import PROGRAMS

from ciguard.levels.code.blocks import BlockInput, LibraryCall
from ciguard.levels.code.disassembly import Disassembly, disassemble
from ciguard.levels.code.fitting import argument, fitted, with_argument
from ciguard.levels.code.seed_sources import shipped_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.levels.code.blocks import Block
    from ciguard.levels.code.dialects import Dialect
    from ciguard.targets import Environment

PROBE = Path(__file__).with_name("program_probe.py")
SEEDS = Path(__file__).parents[2] / "seeds" / "models"
LIBRARIES = [
    pytest.param("torch", marks=pytest.mark.library("torch")),
    pytest.param("tensorflow", marks=[pytest.mark.library("tensorflow"), pytest.mark.slow]),
    # Every program is compiled.
    pytest.param("jittor", marks=[pytest.mark.library("jittor"), pytest.mark.slow]),
]
SAMPLE = {
    "torch": ("lenet", "pointnet", "resnet18"),
    "tensorflow": ("lenet", "lstm"),
    "jittor": ("lenet",),
}
"""Seeds that `make test-slow` tries; all are tried before a release."""


@dataclass
class Target:
    """A process that runs programs."""

    questions: IO[str]
    answers: IO[str]

    def run(self, source: str) -> dict[str, Any]:
        """Return the globals of a program, which has to run."""
        print(json.dumps(source), file=self.questions, flush=True)
        found: dict[str, Any] = json.loads(self.answers.readline())
        assert "raised" not in found, f"{found.get('raised')}\n{source}"
        made: dict[str, Any] = found["globals"]
        return made


@contextmanager
def target(environment: Environment) -> Iterator[Target]:
    variables = {**os.environ, **environment.variables, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with subprocess.Popen(
        [str(environment.python), "-I", str(PROBE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=variables,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Target(process.stdin, process.stdout)
        process.stdin.close()


def fed_of(described: dict[str, Any]) -> BlockInput:
    return BlockInput(tuple(described["shape"]), described["dtype"])


def observed(process: Target, parts: Disassembly) -> list[BlockInput]:
    """Return what each block meets in the seed, the output layer last."""
    found = process.run(parts.template.observing())
    return [fed_of(found[f"fed_{n}"]) for n in range(1, len(parts.blocks) + 2)]


def prove(process: Target, source: str, library: str) -> None:
    """Put the blocks of a program in one after the other."""
    parts = disassemble(source, library)
    seed = process.run(source)
    met = observed(process, parts)
    template = replace(parts.template, met=met[-1])
    for depth, block in enumerate(parts.blocks):
        alone = process.run(template.alone(block, met[depth]).source)
        assert fed_of(alone["y"]) == met[depth + 1], block.name
        process.run(template.program(parts.blocks[: depth + 1], met[depth + 1]).source)
    process.run(template.program((), met[0]).source)
    assert process.run(template.program(parts.blocks).source) == seed


@pytest.mark.parametrize("library", LIBRARIES)
def test_blocks_put_in_one_by_one_give_programs_that_run(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    written = [source for (written_for, _), source in PROGRAMS.items() if written_for == library]
    with target(environment_of(library)) as process:
        for source in written[: 1 if library == "jittor" else None]:
            prove(process, source, library)


@pytest.mark.parametrize(
    ("library", "seed"),
    [
        pytest.param(
            library,
            seed,
            marks=[
                pytest.mark.library(library),
                # Of Jittor each program is compiled anew, for a minute or more.
                pytest.mark.slow if seed in SAMPLE[library] else pytest.mark.release,
            ],
        )
        for library in SAMPLE
        for seed in shipped_programs(library)
    ],
)
def test_shipped_seeds_are_taken_apart_and_put_together(
    environment_of: Callable[[str], Environment], library: str, seed: str
) -> None:
    with target(environment_of(library)) as process:
        prove(process, (SEEDS / library / f"{seed}.py").read_text(), library)


def widened(block: Block, dialect: Dialect) -> Block:
    """Return a block whose layers make three more channels or features than before."""
    for place, call in enumerate(block.calls):
        size = dialect.output_size(call)
        text = argument(call, size) if size is not None else None
        if size is not None and text is not None and text.isdigit():
            block = block.with_call(place, with_argument(call, size, str(int(text) + 3)))
    return block


@pytest.mark.library("torch")
@pytest.mark.parametrize("style", ["sequence", "class", "sequences in a class", "branches"])
def test_blocks_fit_what_mutants_before_them_give(
    environment_of: Callable[[str], Environment], style: str
) -> None:
    parts = disassemble(PROGRAMS["torch", style], "torch")
    chain: list[Block] = []

    with target(environment_of("torch")) as process:
        met = observed(process, parts)
        template = replace(parts.template, met=met[-1])
        now = met[0]
        for block, was in zip(parts.blocks, met, strict=False):
            fit = fitted(widened(block, template.dialect), was, now, template.dialect)
            assert fit is not None
            chain.append(fit[0])
            now = fed_of(process.run(template.alone(fit[0], now).source)["y"])
            process.run(template.program(chain, now).source)

    assert now != met[-1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_adapters_stand_in_lists_of_layers(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    parts = disassemble(PROGRAMS[library, "sequence"], library)

    with target(environment_of(library)) as process:
        met = observed(process, parts)
        block, was = parts.blocks[1], met[1]
        fit = fitted(replace(block, calls=(), follows=()), was, was, parts.template.dialect, rank=5)
        assert fit is not None
        assert fit[1]
        adapted = replace(block, adapter=fit[1]).with_call(0, volumes(library))
        chain = (parts.blocks[0], adapted)
        gives = fed_of(process.run(parts.template.alone(adapted, was).source)["y"])
        template = replace(parts.template, met=met[-1])
        process.run(template.program(chain, gives).source)

    assert len(gives.shape) == 5


def volumes(library: str) -> LibraryCall:
    """Return a layer that takes volumes and nothing else, and gives what it takes."""
    name = {
        "torch": "torch.nn.Dropout3d",
        "tensorflow": "tensorflow.keras.layers.SpatialDropout3D",
        "jittor": "jittor.nn.AdaptiveAvgPool3d",
    }[library]
    size = ("1",) if library == "jittor" else ("0.5",)
    return LibraryCall(api=name, positional=size, makes_layer=True)
