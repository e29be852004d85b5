"""Assembly of blocks into programs."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_programs import PROGRAMS, program

from ciguard.levels.code.blocks import Block, BlockTensor, LibraryCall
from ciguard.levels.code.disassembly import Disassembly, disassemble

PARTS = {key: disassemble(source, key[0]) for key, source in PROGRAMS.items()}
EVERY = pytest.mark.parametrize("key", PROGRAMS, ids=" ".join)
keys = st.sampled_from(list(PROGRAMS))


def is_same_code(source: str, other: str) -> bool:
    return ast.dump(ast.parse(source)) == ast.dump(ast.parse(other))


def calls_at(source: str, line: int) -> set[str]:
    return {
        ast.unparse(node.func).rpartition(".")[2]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and node.lineno == line
    }


def renamed(block: Block, place: int, name: str) -> Block:
    call = block.calls[place]
    module = call.api.rpartition(".")[0]
    return block.with_call(place, replace(call, api=f"{module}.{name}"))


@EVERY
def test_all_blocks_of_a_seed_give_the_seed(key: tuple[str, str]) -> None:
    parts = PARTS[key]

    assembled = parts.template.program(parts.blocks)

    assert is_same_code(assembled.source, PROGRAMS[key])
    assert assembled.adapter == ""


@given(key=keys, depth=st.integers(0, 9))
def test_lines_point_at_the_calls_at_every_depth(key: tuple[str, str], depth: int) -> None:
    parts = PARTS[key]
    chain = parts.blocks[:depth]

    assembled = parts.template.program(chain)

    assert len(assembled.lines) == len(chain)
    for block, lines in zip(chain, assembled.lines, strict=True):
        for call, line in zip(block.calls, lines, strict=True):
            assert call.api.rpartition(".")[2] in calls_at(assembled.source, line)


@given(data=st.data(), key=keys, name=st.sampled_from(["Hardtanh", "leaky"]))
def test_only_the_mutated_call_changes_in_the_program(
    data: st.DataObject, key: tuple[str, str], name: str
) -> None:
    parts = PARTS[key]
    index = data.draw(st.sampled_from([n for n, block in enumerate(parts.blocks) if block.calls]))
    place = data.draw(st.integers(0, len(parts.blocks[index].calls) - 1))
    mutant = renamed(parts.blocks[index], place, name)

    assembled = parts.template.program((*parts.blocks[:index], mutant, *parts.blocks[index + 1 :]))

    line = assembled.lines[index][place]
    assert name in calls_at(assembled.source, line)
    assert name in calls_at(
        parts.template.alone(mutant, BlockTensor((4, 3, 8, 8))).source,
        parts.template.alone(mutant, BlockTensor((4, 3, 8, 8))).lines[0][place],
    )
    text = assembled.source.splitlines()
    assert sum(f".{name}(" in line for line in text) == 1


def test_absent_blocks_and_their_definitions_are_removed() -> None:
    parts = PARTS["torch", "sequences in a class"]

    text = parts.template.program(parts.blocks[:1]).source

    assert "self.features = nn.Sequential(nn.Conv2d(3, 6, 3))\n" in text
    assert "return self.classifier(self.features(x))" in text
    assert "nn.Sequential(nn.Linear(8, 4), nn.Identity())" in text
    assert "self.features" not in parts.template.program(()).source
    assert "return self.classifier(x)" in parts.template.program(()).source


def test_a_definition_with_other_users_is_kept() -> None:
    parts = PARTS["torch", "class"]

    text = parts.template.program(parts.blocks[:1]).source

    assert "batch = x.size(0)" in text
    assert "self.relu" not in text
    assert "self.conv2" not in text
    assert "self.pool" in text


def test_the_output_layer_is_fitted() -> None:
    parts = PARTS["torch", "class"]
    template = replace(parts.template, output_layer_input=BlockTensor((4, 16)))

    assembled = template.program(parts.blocks[:1], BlockTensor((4, 6, 4, 4)))

    assert "self.fc2 = nn.Linear(96, classes)" in assembled.source
    assert "return self.fc2(x.flatten(1))" in assembled.source
    assert assembled.adapter == "x.flatten(1)"


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("torch", "sequence"), "nn.Conv2d(3, 6, kernel_size=3, padding=1), nn.Flatten(1), nn.Lin"),
        (("torch", "named sequence"), "('adapter1_0', nn.Flatten(1)), ('fc', nn.Linear("),
        (("tensorflow", "sequence"), "activation='relu'), layers.Flatten(), layers.Dense(4)"),
        (("tensorflow", "added"), "model.add(layers.Flatten())\nmodel.add(layers.Dense(4))"),
        (("tensorflow", "functional"), "layers.Dense(classes)(layers.Flatten()(x))"),
        (("jittor", "class"), "return self.fc2(x.flatten(1))"),
    ],
)
def test_adapters_are_inserted_in_every_style(key: tuple[str, str], text: str) -> None:
    parts = PARTS[key]
    template = replace(parts.template, output_layer_input=BlockTensor((4, 9)))

    assert text in template.program(parts.blocks[:1], BlockTensor((4, 6, 6, 6))).source


def test_an_adapter_before_a_branch_keeps_the_name_of_the_input() -> None:
    parts = PARTS["tensorflow", "functional with a branch at the input"]
    first = replace(parts.blocks[0], adapter="tensorflow.keras.layers.Rescaling(2.0)(x)")

    text = parts.template.program((first,)).source

    assert "inputs_adapted = layers.Rescaling(2.0)(inputs)" in text
    assert "layers.Concatenate()([inputs_adapted, small])" in text
    assert "keras.Model(inputs=inputs, outputs=outputs)" in text


def test_a_shared_definition_is_copied_for_the_block_that_changes_it() -> None:
    parts = PARTS["torch", "class"]
    first, second, *rest = parts.blocks

    text = parts.template.program((first, renamed(second, 2, "GELU"), *rest)).source

    assert "self.relu = nn.ReLU()\n        self.relu_conv2 = nn.GELU()" in text
    assert "self.pool(self.relu_conv2(self.conv2(x)))" in text
    assert "self.fc2(self.relu(self.fc1(x)))" in text


def test_a_class_is_copied_for_the_block_that_changes_it() -> None:
    parts = PARTS["torch", "own classes"]
    conv, first, *rest = parts.blocks

    text = parts.template.program((conv, renamed(first, 2, "GELU"), *rest)).source

    assert "class Basic(nn.Module)" in text
    assert "class Basic_block1(nn.Module)" in text
    assert "self.block1 = Basic_block1(4, 6)" in text
    assert "self.block2 = Basic(6, 6)" in text
    assert text.count("nn.GELU()") == 1


def test_apis_of_modules_that_are_not_imported_are_imported() -> None:
    source = """
from torch.nn import Linear, ReLU, Sequential
model = Sequential(Linear(3, 4), ReLU(), Linear(4, 2))
"""
    parts = disassemble(source, "torch")
    mutant = parts.blocks[1].with_call(0, LibraryCall(api="torch.nn.GELU", makes_layer=True))

    text = parts.template.program((parts.blocks[0], mutant)).source

    assert "import torch\n" in text
    assert "Sequential(Linear(3, 4), torch.nn.GELU(), Linear(4, 2))" in text


@EVERY
def test_a_block_alone_keeps_only_what_it_needs(key: tuple[str, str]) -> None:
    parts = PARTS[key]
    for block in parts.blocks:
        assembled = parts.template.alone(block, BlockTensor((4, 5, 6, 7)))

        ast.parse(assembled.source)
        assert "(4, 5, 6, 7)" in assembled.source
        assert "optimizer" not in assembled.source
        assert "labels" not in assembled.source
        assert len(assembled.lines[0]) == len(block.calls)


def test_a_symbolic_block_alone_has_its_own_input() -> None:
    parts = PARTS["tensorflow", "functional"]

    text = parts.template.alone(parts.blocks[4], BlockTensor((4, 6, 6, 8))).source

    assert "inputs = keras.Input(shape=(6, 6, 8), dtype='float32')" in text
    assert "x = layers.Activation('relu')(layers.MaxPooling2D(2)(x))" in text
    assert "keras.Model(inputs, x)" in text
    assert "conv_block(x, 6)" not in text


@EVERY
def test_every_block_and_the_output_layer_are_observed(key: tuple[str, str]) -> None:
    parts = PARTS[key]

    text = parts.template.observing()

    ast.parse(text)
    for number in range(1, len(parts.blocks) + 2):
        assert text.count(f"_Seen({number})") == 1
        assert f"\nfed_{number} = _fed[{number}]\n" in text


def test_a_template_can_be_reused() -> None:
    parts: Disassembly = PARTS["torch", "branches"]

    first = parts.template.program(parts.blocks[:3]).source
    parts.template.alone(parts.blocks[1], BlockTensor((4, 6, 8, 8)))

    assert parts.template.program(parts.blocks[:3]).source == first


def test_a_model_without_layer_objects_is_found_in_a_function() -> None:
    model = """
def net(x):
    x = F.conv2d(x, torch.ones(2, 3, 3, 3))
    x = F.relu(x).flatten(1)
    return F.linear(x, torch.ones(4, 72))

model = net
images = net(images)
"""
    parts = disassemble(program("torch", model), "torch")

    assert [block.name for block in parts.blocks] == ["block1", "block2"]
    assert "y = net(x)" in parts.template.alone(parts.blocks[1], BlockTensor((1, 2, 3, 3))).source
