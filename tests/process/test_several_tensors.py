"""Layers that take several tensors run in place of a layer that takes one tensor."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from model_programs import program
from test_program_assembly import LIBRARIES, form_of, input_forms, target

from ciguard.campaign import extract
from ciguard.levels.code.calling import rank_of
from ciguard.levels.code.disassembly import disassemble
from ciguard.levels.code.encoders import TfIdf
from ciguard.levels.code.fitting import fitted
from ciguard.levels.code.knowledge import Apis
from ciguard.levels.code.replacement import Replacement
from ciguard.levels.code.similarity import Similarities
from ciguard.levels.code.uses import PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.targets import Environment

_TORCH = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.act = nn.ReLU()
        self.fc = nn.Linear(6 * 64, 4)

    def forward(self, x):
        x = self.conv(x)
        x = self.act(x)
        x = x.flatten(1)
        return self.fc(x)


model = Net()
"""
_KERAS = """
inputs = keras.Input(shape=(8, 8, 3))
x = layers.Conv2D(6, 3, padding="same")(inputs)
x = layers.ReLU()(x)
x = layers.Flatten()(x)
model = keras.Model(inputs, layers.Dense(4)(x))
"""
_JITTOR = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv(3, 6, 3, padding=1)
        self.act = nn.Pool(2, 2)
        self.fc = nn.Linear(6 * 16, 4)

    def execute(self, x):
        x = self.conv(x)
        x = self.act(x)
        x = x.reshape(x.shape[0], -1)
        return self.fc(x)


model = Net()
"""
_LAYERS = {
    "torch": (
        "torch.nn.ReLU",
        _TORCH,
        "MSELoss", "BCELoss", "KLDivLoss", "NLLLoss", "CrossEntropyLoss", "MultiMarginLoss",
        "CosineEmbeddingLoss", "GaussianNLLLoss", "SoftMarginLoss", "TripletMarginLoss",
        "CTCLoss", "CosineSimilarity", "PairwiseDistance", "Bilinear", "MultiheadAttention",
        "TransformerDecoderLayer", "LSTMCell", "MaxUnpool2d",
    ),
    "tensorflow": (
        "tensorflow.keras.layers.ReLU",
        _KERAS,
        "Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract",
        "Attention", "AdditiveAttention", "GRUCell", "LSTMCell", "SimpleRNNCell",
    ),
    "jittor": (
        "jittor.nn.Pool",
        _JITTOR,
        "MSELoss", "CrossEntropyLoss", "Bilinear", "LSTMCell",
    ),
}  # fmt: skip
"""The replaced API, the model, and the names of the replacements, by library."""


@pytest.mark.parametrize("library", LIBRARIES)
def test_layers_of_several_tensors_run_alone_and_in_programs(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    own, model, *names = _LAYERS[library]
    known = extract(environment_of(library).target.name).known
    parts = disassemble(program(library, model), library)
    with target(environment_of(library)) as process:
        forms = input_forms(process, parts)
        template = replace(parts.template, output_layer_input=forms[-1])
        index, place = next(
            (index, place)
            for index, block in enumerate(parts.blocks)
            for place, call in enumerate(block.calls)
            if call.api == own
        )
        for name in names:
            other = f"{own.rpartition('.')[0]}.{name}"
            records = [known.records[api] for api in map(known.find, (own, other))]
            replacement = Replacement(Similarities(Apis(records), TfIdf(), threshold=-1.0))

            mutant = replacement(parts.blocks[index], place, random.Random(0))

            assert mutant is not None, other
            assert mutant.block.calls[place].use != PLAIN, other
            fit = fitted(
                mutant.block, forms[index], forms[index], template.dialect, rank=rank_of(other)
            )
            assert fit is not None, other
            alone = process.run(template.alone(fit[0], forms[index]).source)
            result = form_of(alone["y"])
            assert result.shape[:1] == forms[index].shape[:1], other
            process.run(template.program((*parts.blocks[:index], fit[0]), result).source)
