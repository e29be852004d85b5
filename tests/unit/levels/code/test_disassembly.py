"""Disassembly of programs into templates and blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from model_programs import PROGRAMS, program

from ciguard.errors import DisassemblyError
from ciguard.levels.code.disassembly import disassemble

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import Block

BLOCKS = {
    ("torch", "sequence"): ["block1", "block2", "block3", "block4", "block5"],
    ("torch", "named sequence"): ["block1", "block2", "block3"],
    ("torch", "class"): ["conv1", "conv2", "block3", "fc1"],
    ("torch", "sequences in a class"): [
        *("features_0", "features_1", "features_2", "features_3", "block5"),
        *("classifier_0", "classifier_1"),
    ],
    ("torch", "branches"): ["stem", "shortcut", "block3", "left", "block5", "block6"],
    ("torch", "own classes"): ["conv", "block1", "block2", "blocks", "pool", "block6"],
    ("torch", "recurrent"): ["block1", "hidden", "gru", "block4"],
    ("tensorflow", "sequence"): ["block1", "block2", "block3"],
    ("tensorflow", "added"): ["block1", "block2", "block3"],
    ("tensorflow", "functional"): ["block1", "block2", "block3", "block4", "block5", "block6"],
    ("tensorflow", "functional with a branch at the input"): ["block1", "flatten", "block3"],
    ("tensorflow", "class"): ["conv", "body_0", "body_1", "block4", "act"],
    ("jittor", "sequence"): ["block1", "block2", "block3", "block4"],
    ("jittor", "class"): ["conv", "block2", "fc1"],
}


def blocks_of(library: str, model: str) -> tuple[Block, ...]:
    return disassemble(program(library, model), library).blocks


def apis(block: Block) -> list[str]:
    return [call.api.rpartition(".")[2] for call in block.calls]


@pytest.mark.parametrize("key", PROGRAMS)
def test_programs_of_every_style_are_split_into_blocks(key: tuple[str, str]) -> None:
    library, _ = key

    blocks = disassemble(PROGRAMS[key], library).blocks

    assert [block.name for block in blocks] == BLOCKS[key]
    assert all(len(block.input_sources) == len(block.calls) for block in blocks)


def test_a_statement_is_one_block_with_all_its_calls() -> None:
    first, second, view, last = disassemble(PROGRAMS["torch", "class"], "torch").blocks

    assert apis(first) == ["Conv2d", "MaxPool2d", "relu"]
    assert first.input_sources == (-1, 0, 0)
    assert apis(second) == ["MaxPool2d", "Conv2d", "ReLU"]
    assert second.input_sources == (1, -1, 1)
    assert view.calls == ()
    assert apis(last) == ["ReLU", "Linear"]
    assert last.input_sources == (1, -1)
    assert first.calls[0].keywords == (("padding", "1"),)
    assert first.calls[2].positional == ("self.conv1(x)",)
    assert [call.makes_layer for call in first.calls] == [True, True, False]


def test_merged_branches_are_one_block() -> None:
    _, residual, activation, joined, *_ = disassemble(PROGRAMS["torch", "branches"], "torch").blocks

    assert apis(residual) == ["Conv2d", "BatchNorm2d", "Conv2d", "BatchNorm2d"]
    assert residual.input_sources == (-1, 0, -1, 2)
    assert apis(activation) == ["relu"]
    assert apis(joined) == ["Conv2d", "Conv2d", "relu", "cat"]
    assert joined.input_sources == (-1, -1, 1, None)


def test_a_class_of_the_program_contributes_its_library_calls() -> None:
    _, block, *_ = disassemble(PROGRAMS["torch", "own classes"], "torch").blocks

    assert apis(block) == ["Conv2d", "BatchNorm2d", "ReLU"]
    assert block.input_sources == (None, 0, 0)
    (own,) = block.own_calls
    assert (own.call.api, own.call.positional) == ("Basic", ("4", "6"))
    assert (own.parameter, own.position, own.axis) == ("in_channels", 0, 1)


def test_the_output_layer_stays_in_the_template() -> None:
    for (library, _), source in PROGRAMS.items():
        output = disassemble(source, library).template.blocks[-1]

        assert output.name == "output"
        assert {"Linear", "Dense"} & set(apis(output))


@pytest.mark.parametrize(
    ("library", "model", "why"),
    [
        ("torch", "model = images.mean", "the program has no model of torch"),
        ("torch", "model = nn.Linear(3, 4)", "the program has no model of torch"),
        (
            *("torch", "model = nn.Sequential(nn.Flatten(), nn.Linear(9, 4))\nmodel[0] = model[1]"),
            "line 10: the program reads layers of 'model' by index",
        ),
        (
            *("torch", "def run(m):\n    return m\nmodel = run(run(1))"),
            "the program has no model of torch",
        ),
        (
            "torch",
            (
                "class Net(nn.Module):\n"
                "    def __init__(self):\n"
                "        super().__init__()\n"
                "        self.fc = nn.Linear(3, 4)\n"
                "    def forward(self, x):\n"
                "        return self.fc(x)\n"
                "model = Net()"
            ),
            "the model has no hidden layer that can be separated from the output layer",
        ),
        (
            "torch",
            "class Net(nn.Module):\n    def forward(self, x):\n        print(x)\nmodel = Net()",
            "line 10: Net.forward takes no data or returns nothing",
        ),
        (
            "torch",
            (
                "def train(model):\n"
                "    return model\n"
                "train(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Linear(9, 4)))"
            ),
            "no statement creates the model and assigns it to a variable",
        ),
        ("torch", "model = = 1", "line 9: invalid syntax"),
    ],
)
def test_a_program_that_cannot_be_disassembled_is_an_error(
    library: str, model: str, why: str
) -> None:
    with pytest.raises(DisassemblyError) as caught:
        disassemble(program(library, model), library, name="mine.py")

    assert str(caught.value).startswith("mine.py")
    assert why in str(caught.value)


def test_statements_with_an_early_return_stay_in_the_template() -> None:
    model = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.third = nn.Linear(3, 4)

    def forward(self, x):
        x = self.first(x)
        if x.sum() > 0:
            return x
        x = self.second(x)
        return self.third(x)


model = Net()
"""
    assert [block.name for block in blocks_of("torch", model)] == ["second"]
