"""Recognition and rewriting of calls of layers in a program."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_programs import PROGRAMS

from ciguard.domain.programs import Derivation
from ciguard.levels.code.blocks import BlockTensor
from ciguard.levels.code.disassembly import Disassembly, disassemble
from ciguard.levels.code.nodes import CandidateBlock, candidate_from_json, candidate_to_json
from ciguard.levels.code.uses import PLAIN

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import Block

FED = BlockTensor((4, 6, 8, 8))


def torch_class(init: str, forward: str) -> Disassembly:
    """Return the parts of a program with a class that ends with a dense layer."""
    return disassemble(
        f"""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        {init}
        self.fc = nn.Linear(6, 4)

    def forward(self, x):
        {forward}
        return self.fc(x.mean((2, 3)))


model = Net()
""",
        "torch",
    )


def put_in(parts: Disassembly, old: str, new: str, use: str, *, adapter: str = "") -> str:
    """Return the program in which the first call of an API is replaced, with another usage."""
    index, place = next(
        (index, place)
        for index, block in enumerate(parts.blocks)
        for place, call in enumerate(block.calls)
        if call.api.endswith(f".{old}")
    )
    call = parts.blocks[index].calls[place]
    assert call.use == PLAIN
    other = replace(call, api=f"{call.api.removesuffix(old)}{new}", positional=(), use=use)
    block = replace(parts.blocks[index].with_call(place, other), adapter=adapter)
    chain = (*parts.blocks[:index], block, *parts.blocks[index + 1 :])
    return parts.template.program(chain).source


def method(source: str, name: str) -> list[str]:
    """Return the statements of the last method with a name in a program."""
    nodes = [n for n in ast.walk(ast.parse(source)) if getattr(n, "name", "") == name]
    assert isinstance(nodes[-1], ast.FunctionDef)
    return [ast.unparse(statement) for statement in nodes[-1].body]


def test_a_variable_is_passed_as_often_as_the_layer_needs_it() -> None:
    parts = torch_class("self.act = nn.ReLU()", "x = self.conv(x)\n        x = self.act(x)")

    source = put_in(parts, "ReLU", "MSELoss", "f(x, x)")

    assert "self.act = nn.MSELoss()" in source
    assert method(source, "forward")[1] == "x = self.act(x, x)"


def test_an_expression_is_computed_once() -> None:
    parts = torch_class("self.act = nn.ReLU()", "x = self.act(self.conv(x))")

    source = put_in(parts, "ReLU", "MultiheadAttention", "f(x, x, x)[0]")

    assert method(source, "forward")[0] == ("x = self.act((held := self.conv(x)), held, held)[0]")


def test_the_data_is_the_result_of_the_adapter() -> None:
    parts = torch_class("self.act = nn.ReLU()", "x = self.conv(x)\n        x = self.act(x)")

    source = put_in(parts, "ReLU", "NLLLoss", "f(x, x.argmax(1))", adapter="x.flatten(1)")

    assert "self.act((held := x.flatten(1)), held.argmax(1))" in source or (
        "x = x.flatten(1)" in source and "self.act(x, x.argmax(1))" in source
    )


def test_the_temporary_variable_has_an_unused_name() -> None:
    parts = torch_class(
        "self.act = nn.ReLU()",
        "held = self.conv(x)\n        x = self.act(self.conv(held))",
    )

    assert "held_2 := " in put_in(parts, "ReLU", "L1Loss", "f(x, x)")


def test_a_shared_layer_is_rewritten_in_one_block_only() -> None:
    parts = torch_class(
        "self.act = nn.ReLU()",
        "x = self.act(x)\n        x = self.conv(x)\n        x = self.act(x)",
    )

    first, _, last, _ = method(put_in(parts, "ReLU", "L1Loss", "f(x, x)"), "forward")

    assert first.endswith("(x, x)")
    assert last == "x = self.act(x)"


def test_every_call_of_a_layer_within_a_block_is_rewritten() -> None:
    parts = torch_class(
        "self.act = nn.ReLU()",
        "y = self.conv(x)\n        x = self.act(y) + self.act(y + 1)",
    )

    source = put_in(parts, "ReLU", "L1Loss", "f(x, x)")

    assert method(source, "forward")[1] == "x = self.act(y, y) + self.act((held := (y + 1)), held)"


def test_a_class_of_the_program_is_copied_with_its_calls() -> None:
    parts = disassemble(PROGRAMS["torch", "own classes"], "torch")

    source = put_in(parts, "ReLU", "L1Loss", "f(x, x)")

    methods = [n for n in ast.walk(ast.parse(source)) if getattr(n, "name", "") == "forward"]
    texts = [ast.unparse(node) for node in methods]
    assert sum("self.relu((held := self.bn(self.conv(x))), held)" in text for text in texts) == 1
    assert sum("self.relu(self.bn(self.conv(x)))" in text for text in texts) == 1


def test_layers_of_keras_are_called_where_they_are_made() -> None:
    parts = disassemble(PROGRAMS["tensorflow", "functional"], "tensorflow")

    source = put_in(parts, "Rescaling", "Add", "f([x, x])")

    assert "x = layers.Add()([inputs, inputs])" in source


def test_keyword_arguments_of_a_rewritten_call_are_kept() -> None:
    parts = disassemble(PROGRAMS["tensorflow", "class"], "tensorflow")

    source = put_in(parts, "BatchNormalization", "LSTMCell", "f(x, [x, x])[0]")

    assert "self.bn((held := self.conv(inputs)), [held, held], training=training)[0]" in source


@pytest.mark.parametrize(
    ("init", "forward"),
    [
        ("self.act = nn.Sequential(nn.Conv2d(6, 6, 1), nn.ReLU())", "x = self.act(self.conv(x))"),
        ("self.acts = nn.ModuleList([nn.ReLU()])", "x = self.acts[0](self.conv(x))"),
        ("self.act = nn.ReLU()", "x = self.act(input=self.conv(x))"),
        ("self.act = nn.ReLU()", "x = self.act(self.conv(x), None)"),
        ("self.act = nn.ReLU()", "x = self.act(*[self.conv(x)])"),
        ("self.act = nn.ReLU()", "x = self.act(self.conv(x)) * self.act.training"),
    ],
    ids=["sequence", "list", "keyword", "more", "unpacked", "spoken of"],
)
def test_a_layer_with_an_unusual_call_keeps_it(init: str, forward: str) -> None:
    parts = torch_class(init, forward)

    calls = [call for block in parts.blocks for call in block.calls]
    assert {call.use for call in calls if call.api == "torch.nn.ReLU"} == {""}


def test_calls_of_functions_are_not_rewritten() -> None:
    parts = torch_class("", "x = torch.relu(self.conv(x))")

    calls = [call for block in parts.blocks for call in block.calls]
    assert {call.api: call.use for call in calls} == {
        "torch.nn.Conv2d": PLAIN,
        "torch.relu": "",
    }


@given(data=st.data(), key=st.sampled_from(list(PROGRAMS)))
def test_rewriting_a_usage_changes_nothing_else(data: st.DataObject, key: tuple[str, str]) -> None:
    parts = disassemble(PROGRAMS[key], key[0])
    able = [
        (index, place)
        for index, block in enumerate(parts.blocks)
        for place, call in enumerate(block.calls)
        if call.use
    ]
    if not able:
        return
    index, place = data.draw(st.sampled_from(able))
    block = parts.blocks[index]
    mutant = block.with_call(place, replace(block.calls[place], use="f(x).marked"))

    whole = parts.template.program(
        (*parts.blocks[:index], mutant, *parts.blocks[index + 1 :])
    ).source
    alone = parts.template.alone(mutant, FED).source

    assert whole.count(".marked") >= 1
    assert ".marked" in alone
    plain = parts.template.program(parts.blocks).source
    if "class " not in plain and "def " not in plain:  # no definition had to be copied
        assert whole.replace(".marked", "") == plain


def test_the_usage_survives_the_journal() -> None:
    parts = torch_class("self.act = nn.ReLU()", "x = self.act(self.conv(x))")

    def candidate(block: Block) -> CandidateBlock:
        step = Derivation(block=block.name, line=3, use="f(x, x)")
        return CandidateBlock(block=block, steps=(step,), input_form=FED)

    for block in parts.blocks:
        assert candidate_from_json(candidate_to_json(candidate(block))) == candidate(block)
