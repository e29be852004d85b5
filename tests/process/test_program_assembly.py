"""Disassembled and reassembled programs run in real targets, with unchanged results."""

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

from ciguard.levels.code.blocks import BlockTensor, LibraryCall
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
"""Seeds that `make test-slow` tests; a release tests all seeds."""


@dataclass
class Target:
    """A process that runs programs."""

    questions: IO[str]
    answers: IO[str]

    def run(self, source: str) -> dict[str, Any]:
        """Run a program, which must succeed, and return its global variables."""
        print(json.dumps(source), file=self.questions, flush=True)
        answer: dict[str, Any] = json.loads(self.answers.readline())
        assert "raised" not in answer, f"{answer.get('raised')}\n{source}"
        variables: dict[str, Any] = answer["globals"]
        return variables


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


def form_of(described: dict[str, Any]) -> BlockTensor:
    return BlockTensor(tuple(described["shape"]), described["dtype"])


def input_forms(process: Target, parts: Disassembly) -> list[BlockTensor]:
    """Return the forms of the blocks' inputs in the seed, that of the output layer last."""
    variables = process.run(parts.template.observing())
    return [form_of(variables[f"fed_{n}"]) for n in range(1, len(parts.blocks) + 2)]


def assert_assembles(process: Target, source: str, library: str) -> None:
    """Assemble programs of 0, 1, … blocks of a seed, and run them."""
    parts = disassemble(source, library)
    seed = process.run(source)
    forms = input_forms(process, parts)
    template = replace(parts.template, output_layer_input=forms[-1])
    for depth, block in enumerate(parts.blocks):
        alone = process.run(template.alone(block, forms[depth]).source)
        assert form_of(alone["y"]) == forms[depth + 1], block.name
        process.run(template.program(parts.blocks[: depth + 1], forms[depth + 1]).source)
    process.run(template.program((), forms[0]).source)
    assert process.run(template.program(parts.blocks).source) == seed


@pytest.mark.parametrize("library", LIBRARIES)
def test_programs_of_the_first_blocks_of_a_seed_run(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    sources = [
        source for (program_library, _), source in PROGRAMS.items() if program_library == library
    ]
    with target(environment_of(library)) as process:
        for source in sources[: 1 if library == "jittor" else None]:
            assert_assembles(process, source, library)


@pytest.mark.parametrize(
    ("library", "seed"),
    [
        pytest.param(
            library,
            seed,
            marks=[
                pytest.mark.library(library),
                # Jittor compiles each program again, for a minute or more.
                pytest.mark.slow if seed in SAMPLE[library] else pytest.mark.release,
            ],
        )
        for library in SAMPLE
        for seed in shipped_programs(library)
    ],
)
def test_shipped_seeds_are_disassembled_and_reassembled(
    environment_of: Callable[[str], Environment], library: str, seed: str
) -> None:
    with target(environment_of(library)) as process:
        assert_assembles(process, (SEEDS / library / f"{seed}.py").read_text(), library)


def widened(block: Block, dialect: Dialect) -> Block:
    """Return a block whose layers have three more output channels or features."""
    for place, call in enumerate(block.calls):
        size = dialect.output_size(call)
        text = argument(call, size) if size is not None else None
        if size is not None and text is not None and text.isdigit():
            block = block.with_call(place, with_argument(call, size, str(int(text) + 3)))
    return block


@pytest.mark.library("torch")
@pytest.mark.parametrize("style", ["sequence", "class", "sequences in a class", "branches"])
def test_blocks_are_fitted_to_the_results_of_earlier_mutants(
    environment_of: Callable[[str], Environment], style: str
) -> None:
    parts = disassemble(PROGRAMS["torch", style], "torch")
    chain: list[Block] = []

    with target(environment_of("torch")) as process:
        forms = input_forms(process, parts)
        template = replace(parts.template, output_layer_input=forms[-1])
        current = forms[0]
        for block, seed_form in zip(parts.blocks, forms, strict=False):
            fit = fitted(widened(block, template.dialect), seed_form, current, template.dialect)
            assert fit is not None
            chain.append(fit[0])
            current = form_of(process.run(template.alone(fit[0], current).source)["y"])
            process.run(template.program(chain, current).source)

    assert current != forms[-1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_adapter_is_inserted_into_a_list_of_layers(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    parts = disassemble(PROGRAMS[library, "sequence"], library)

    with target(environment_of(library)) as process:
        forms = input_forms(process, parts)
        block, seed_form = parts.blocks[1], forms[1]
        fit = fitted(
            replace(block, calls=(), input_sources=()),
            seed_form,
            seed_form,
            parts.template.dialect,
            rank=5,
        )
        assert fit is not None
        assert fit[1]
        adapted = replace(block, adapter=fit[1]).with_call(0, volumes(library))
        chain = (parts.blocks[0], adapted)
        result = form_of(process.run(parts.template.alone(adapted, seed_form).source)["y"])
        template = replace(parts.template, output_layer_input=forms[-1])
        process.run(template.program(chain, result).source)

    assert len(result.shape) == 5


def volumes(library: str) -> LibraryCall:
    """Return a layer that takes only volumes, and keeps their shape."""
    name = {
        "torch": "torch.nn.Dropout3d",
        "tensorflow": "tensorflow.keras.layers.SpatialDropout3D",
        "jittor": "jittor.nn.AdaptiveAvgPool3d",
    }[library]
    size = ("1",) if library == "jittor" else ("0.5",)
    return LibraryCall(api=name, positional=size, makes_layer=True)
