"""Operator AR (API replacement)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from code_records import CALLS, RECORDS, apis, block_of, function_call, layer_call, rng_of
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.programs import Operator
from ciguard.levels.code.binding import bind
from ciguard.levels.code.encoders import TfIdf
from ciguard.levels.code.replacement import Replacement, ReplacementHistory, roulette
from ciguard.levels.code.similarity import SimilarApi, Similarities

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import Block, LibraryCall

SIMILARITIES = Similarities(apis(), TfIdf())
REPLACE = Replacement(SIMILARITIES)
SEEDS = st.integers(0, 2**32)


@given(st.sampled_from(CALLS), SEEDS)
def test_the_mutant_calls_another_api_that_the_step_names(call: LibraryCall, seed: int) -> None:
    block = block_of(call)
    mutant = REPLACE(block, 0, rng_of(seed))

    if mutant is not None:
        new_call = mutant.block.calls[0]
        step = mutant.step
        assert new_call.api == step.after == step.api != step.before == block.calls[0].api
        assert (step.operator, step.line, step.parameter) == (Operator.REPLACEMENT, 0, "")
        assert new_call.api in {c.name for c in SIMILARITIES.candidates_for(step.before)}


@given(st.sampled_from(CALLS), SEEDS)
def test_the_new_call_has_all_required_and_no_unknown_arguments(
    call: LibraryCall, seed: int
) -> None:
    mutant = REPLACE(block_of(call), 0, rng_of(seed))

    if mutant is not None:
        api = apis().find(mutant.block.calls[0].api)
        assert api is not None
        bound = bind(mutant.block.calls[0], api.record)
        assert bound is not None
        required_names = {p.name for p in api.record.parameters if p.required}
        assert required_names <= set(bound.named)
        assert not bound.further or any(p.kind == "var_keyword" for p in api.record.parameters)


def test_shared_arguments_keep_their_text() -> None:
    call = layer_call("torch.nn.Conv2d", "3", "16", "SIZE", padding="2", groups="1")
    expected = {"in_channels": "3", "out_channels": "16", "kernel_size": "SIZE", "padding": "2"}

    mutants = [REPLACE(block_of(call), 0, rng_of(seed)) for seed in range(20)]

    transposed = [
        m.block.calls[0] for m in mutants if m and m.step.after == "torch.nn.ConvTranspose2d"
    ]
    assert transposed
    assert all(expected.items() <= dict(call.keywords).items() for call in transposed)


def test_unaccepted_arguments_are_dropped_and_missing_ones_drawn() -> None:
    call = layer_call("torch.nn.MaxPool2d", "2", padding="1", return_indices="True")
    similarities = Similarities(apis(), TfIdf(), threshold=0.0)

    after = _arguments_by_replacement(Replacement(similarities), block_of(call))

    pooling_arguments, convolution_arguments = after["torch.nn.AvgPool2d"], after["torch.nn.Conv2d"]
    assert pooling_arguments == {"kernel_size": "2", "padding": "1"}
    assert {"in_channels", "out_channels", "kernel_size", "padding"} == set(convolution_arguments)
    assert int(convolution_arguments["in_channels"]) >= 1


def _arguments_by_replacement(operator: Replacement, block: Block) -> dict[str, dict[str, str]]:
    drawn_arguments = {}
    for seed in range(200):
        mutant = operator(block, 0, rng_of(seed))
        assert mutant is not None
        drawn_arguments[mutant.step.after] = dict(mutant.block.calls[0].keywords)
    return drawn_arguments


def test_in_place_arguments_are_not_shared() -> None:
    mutants = [
        REPLACE(block_of(layer_call("torch.nn.ReLU", inplace="True")), 0, rng_of(seed))
        for seed in range(30)
    ]

    assert all(m and "inplace" not in dict(m.block.calls[0].keywords) for m in mutants)


def test_a_function_keeps_its_data_under_another_parameter_name() -> None:
    mutant = REPLACE(block_of(function_call("torch.nn.functional.relu", "h + x")), 0, rng_of(0))

    assert mutant is not None
    assert mutant.block.calls[0] == function_call("torch.nn.functional.elu", "h + x")


def test_apis_with_the_same_catch_all_signature_share_all_arguments() -> None:
    call = layer_call("torch.nn.LSTM", "16", "32", num_layers="2")

    mutant = REPLACE(block_of(call), 0, rng_of(0))

    assert mutant is not None
    assert mutant.block.calls[0] == layer_call("torch.nn.GRU", "16", "32", num_layers="2")


def test_an_api_with_a_required_non_literal_is_never_called() -> None:
    after = _arguments_by_replacement(
        Replacement(Similarities(apis(), TfIdf(), threshold=0.0)),
        block_of(layer_call("torch.nn.ReLU")),
    )

    assert "torch.nn.Wrapping" not in after
    assert "torch.nn.LeakyReLU" in after


def test_a_call_without_candidates_is_not_replaced() -> None:
    calls = (layer_call("torch.nn.Unheard"), layer_call("tensorflow.keras.layers.Dense", "10"))

    assert all(REPLACE(block_of(call), 0, rng_of(0)) is None for call in calls)


def test_only_the_call_at_the_index_is_changed() -> None:
    block = block_of(layer_call("torch.nn.Conv2d", "3", "16", "5"), layer_call("torch.nn.ReLU"))

    mutant = REPLACE(block, 1, rng_of(3))

    assert mutant is not None
    assert mutant.block.calls[0] is block.calls[0]
    assert mutant.block.calls[1] != block.calls[1]


def test_the_roulette_draws_in_proportion_to_similarity() -> None:
    api = apis().find("torch.nn.ReLU")
    assert api is not None
    candidates = [SimilarApi("likely", api, 0.9), SimilarApi("unlikely", api, 0.3)]
    rng = rng_of(0)

    drawn = Counter(
        roulette("old", candidates, rng, ReplacementHistory()).name for _ in range(4000)
    )

    assert 2.5 < drawn["likely"] / drawn["unlikely"] < 3.6


@pytest.mark.parametrize(
    ("history", "minimum", "maximum"),
    [
        # The preference is 1 / 256, and the similarity three times that of the other candidate.
        (ReplacementHistory(attempts=Counter({("old", "often"): 1})), 40, 180),
        (ReplacementHistory(runs=Counter({"often": 1})), 1000, 4001),
        (ReplacementHistory(attempts=Counter({("elsewhere", "often"): 9})), 0.2, 0.5),
    ],
)
def test_a_frequent_replacement_is_drawn_less_often(
    history: ReplacementHistory, minimum: float, maximum: float
) -> None:
    api = apis().find("torch.nn.ReLU")
    assert api is not None
    candidates = [SimilarApi("often", api, 0.9), SimilarApi("never", api, 0.3)]
    rng = rng_of(0)

    drawn = Counter(roulette("old", candidates, rng, history).name for _ in range(4000))

    assert minimum < drawn["never"] / max(1, drawn["often"]) < maximum


def test_the_same_generator_makes_the_same_mutant() -> None:
    block = block_of(CALLS[0])

    assert REPLACE(block, 0, rng_of(5)) == Replacement(Similarities(apis(), TfIdf()))(
        block, 0, rng_of(5)
    )


def test_every_record_of_these_tests_is_known() -> None:
    assert all(apis().find(record.api) for record in RECORDS)
