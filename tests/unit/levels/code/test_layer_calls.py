"""Usages of layers where one tensor is available."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from code_records import (
    RELU,
    block_of,
    function,
    function_call,
    layer,
    layer_call,
    optional,
    required,
    rng_of,
)

from ciguard.domain.programs import Derivation, Operator
from ciguard.knowledge import understand
from ciguard.levels.code.blocks import BlockTensor
from ciguard.levels.code.calling import rank_of, required_settings, usage_for_replacement, usage_of
from ciguard.levels.code.encoders import TfIdf
from ciguard.levels.code.knowledge import Apis
from ciguard.levels.code.mutation import BlockSlot, candidates
from ciguard.levels.code.operators import operators_of
from ciguard.levels.code.replacement import Replacement
from ciguard.levels.code.similarity import Similarities
from ciguard.levels.code.uses import PLAIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Api
    from ciguard.levels.code.blocks import Block, LibraryCall

REDUCTION = optional("reduction", "Literal['none', 'mean', 'sum']", "'mean'")
DOC = "Applies the rectified linear unit function element-wise."


def layer_record(api: str, *inputs: str, parameters: Sequence[Mapping[str, Any]] = ()) -> ApiRecord:
    """Return the record of a layer that is called with some tensors."""
    arguments = [{"name": name, "annotation": "Tensor"} for name in inputs]
    return layer(api, DOC, *map(dict, parameters), inputs=arguments)


def api_of(api: str, *inputs: str) -> Api:
    return understand(layer_record(api, *inputs))


THRICE = "f(x[:, :16], x[:, :16], x[:, :16])"
RELU_API = understand(RELU)
LOSS = layer_record("torch.nn.MSELoss", "input", "target", parameters=[REDUCTION])


@pytest.mark.parametrize(
    ("api", "inputs", "use"),
    [
        ("torch.nn.ReLU", ["input"], PLAIN),
        ("torch.nn.MSELoss", ["input", "target"], "f(x, x)"),
        ("torch.nn.TripletMarginLoss", ["anchor", "positive", "negative"], "f(x, x, x)"),
        ("torch.nn.NLLLoss", ["input", "target"], "f(x.log_softmax(1), x.argmax(1))"),
        ("torch.nn.MultiheadAttention", ["query", "key", "value"], f"{THRICE}[0]"),
        ("torch.nn.LSTMCell", ["input"], "f(x)[0]"),
        ("torch.nn.TransformerEncoderLayer", ["src"], PLAIN),
        ("tensorflow.keras.layers.Add", ["inputs"], "f([x, x])"),
        ("keras.layers.Add", ["inputs"], "f([x, x])"),
        ("keras.layers.MultiHeadAttention", ["query", "value"], "f(x[:, :16], x[:, :16])"),
        ("keras.layers.LSTMCell", ["inputs", "states"], "f(x, [x[:, :8], x[:, :8]])[0]"),
        ("jittor.nn.L1Loss", ["output", "target"], "f(x, x).broadcast(x)"),
        ("jittor.nn.Unheard", ["in1", "in2"], "f(x, x)"),
    ],
)
def test_layers_are_called_as_documented(api: str, inputs: list[str], use: str) -> None:
    assert usage_of(api_of(api, *inputs)) == use


def test_functions_have_no_usage() -> None:
    assert usage_of(understand(function("torch.relu", DOC, required("input", "Tensor")))) == ""


def test_a_call_with_the_data_alone_can_be_rewritten() -> None:
    call = layer_call("torch.nn.ReLU")
    loss = understand(LOSS)

    assert usage_for_replacement(function_call("torch.nn.ReLU"), RELU_API, loss) is None
    assert usage_for_replacement(_plain(call), RELU_API, loss) == "f(x, x)"
    assert usage_for_replacement(_plain(call), RELU_API, RELU_API) == PLAIN
    assert usage_for_replacement(call, RELU_API, RELU_API) == ""


def test_a_call_in_a_list_suits_only_layers_of_one_input() -> None:
    add, dot = (api_of(f"keras.layers.{name}", "inputs") for name in ("Add", "Dot"))

    assert usage_for_replacement(_plain(layer_call("keras.layers.Add")), add, dot) == PLAIN
    assert usage_for_replacement(_plain(layer_call("keras.layers.Add")), add, RELU_API) is None


def test_a_program_that_selects_the_first_result_keeps_doing_so() -> None:
    lstm = api_of("torch.nn.LSTM", "input")
    attention = api_of("torch.nn.MultiheadAttention", "query", "key", "value")
    call = _plain(layer_call("torch.nn.LSTM"))

    assert usage_for_replacement(call, lstm, attention) == THRICE
    assert usage_for_replacement(call, lstm, RELU_API) is None
    assert usage_for_replacement(_plain(layer_call("torch.nn.ReLU")), RELU_API, lstm) == "f(x)[0]"


def test_a_loss_is_used_without_reduction() -> None:
    mean = optional("reduction", "str", "'mean'")

    assert required_settings(understand(LOSS)) == {"reduction": "'none'"}
    assert required_settings(RELU_API) == {}
    unlisted = {"torch.nn.KLDivLoss": {"reduction": "'none'"}, "jittor.nn.MSELoss": {}}
    for name, arguments in unlisted.items():
        assert (
            required_settings(understand(layer_record(name, "input", "target", parameters=[mean])))
            == arguments
        )


def test_a_cell_has_as_many_units_as_its_state() -> None:
    units = layer_record(
        "keras.layers.GRUCell", "inputs", "states", parameters=[required("units", "int")]
    )

    assert required_settings(understand(units)) == {"units": "8"}
    assert required_settings(api_of("keras.layers.GRUCell", "inputs", "states")) == {}


def test_some_layers_accept_one_rank_only() -> None:
    assert rank_of("torch.nn.MultiMarginLoss") == 2
    assert rank_of("tensorflow.keras.layers.ConvLSTM2D") == 5
    assert rank_of("torch.nn.MSELoss") is None
    assert rank_of("torch.nn.ReLU") is None


def test_the_step_has_the_usage_of_the_new_layer() -> None:
    mutant = _replacing(LOSS)(block_of(_plain(layer_call("torch.nn.ReLU"))), 0, rng_of(0))

    assert mutant is not None
    call = mutant.block.calls[0]
    assert (call.api, call.use) == ("torch.nn.MSELoss", "f(x, x)")
    assert dict(call.keywords) == {"reduction": "'none'"}
    assert mutant.step.use == "f(x, x)"
    assert mutant.step.change == "torch.nn.ReLU → torch.nn.MSELoss, called as f(x, x)"


def test_a_layer_in_a_list_is_not_replaced_by_one_of_more_inputs() -> None:
    assert _replacing(LOSS)(block_of(layer_call("torch.nn.ReLU")), 0, rng_of(0)) is None


def test_a_layer_with_the_same_usage_keeps_it() -> None:
    elu = layer_record("torch.nn.ELU", "input")

    mutant = _replacing(elu)(block_of(_plain(layer_call("torch.nn.ReLU"))), 0, rng_of(0))

    assert mutant is not None
    assert (mutant.block.calls[0].use, mutant.step.use) == (PLAIN, "")


def test_an_input_size_with_a_numeric_default_is_given() -> None:
    sized = optional("d_model", "int", "512")
    transformer = layer_record("torch.nn.Transformer", "src", "tgt", parameters=[sized])

    mutant = _replacing(transformer)(block_of(_plain(layer_call("torch.nn.ReLU"))), 0, rng_of(0))

    assert mutant is not None
    assert "d_model" in dict(mutant.block.calls[0].keywords)


def test_a_scale_factor_without_a_size_is_given() -> None:
    factor, size = optional("scale_factor", "", "None"), optional("size", "int", "None")
    block = block_of(_plain(layer_call("torch.nn.ReLU")))
    by_factor = layer_record("torch.nn.Larger", "x", parameters=[factor])
    by_either = layer_record("torch.nn.Larger", "x", parameters=[size, factor])

    mutants = [_replacing(record)(block, 0, rng_of(0)) for record in (by_factor, by_either)]

    assert [len(mutant.block.calls[0].keywords) if mutant else None for mutant in mutants] == [1, 0]


def test_the_slot_fits_the_rank_of_the_new_layer() -> None:
    margin = layer_record("torch.nn.MultiMarginLoss", "input", "target", parameters=[REDUCTION])
    operators = operators_of((RELU, margin), TfIdf(), specifications=lambda _: {})
    ranks_requested = []

    def fit(block: Block, rank: int | None) -> Block:
        ranks_requested.append((block.calls[0].api, rank))
        return block

    slot = BlockSlot(input_form=BlockTensor((4, 6, 8, 8)), fit=fit)
    yielded = candidates(
        block_of(_plain(layer_call("torch.nn.ReLU"))), slot, operators, rng_of(1), mutations=9
    )

    steps: list[Derivation] = [candidate.step for candidate in yielded]
    assert ("torch.nn.MultiMarginLoss", 2) in ranks_requested
    assert {step.operator for step in steps} >= {Operator.REPLACEMENT}


def _plain(call: LibraryCall) -> LibraryCall:
    return replace(call, use=PLAIN)


def _replacing(record: ApiRecord) -> Replacement:
    """Return operator AR for a library that has `ReLU` and one other API."""
    return Replacement(Similarities(Apis((RELU, record)), TfIdf(), threshold=-1.0))
