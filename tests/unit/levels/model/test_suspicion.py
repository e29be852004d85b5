"""Suspects: the layers to run alone when targets disagree on a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_examples import ENGINES, FIRST, MODEL, SECOND, X, alone, layers, predicted, returned

from ciguard.domain.models import INPUT, ONE_LAYER, Check, LayerGraph, LayerNode
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Outcome, Rejected, Resource, Stage
from ciguard.domain.values import ArrayValue, Constant, Explicit, Uniform
from ciguard.execution import decode_outputs
from ciguard.levels.model.inconsistency import EPSILON
from ciguard.levels.model.layer_samples import layer_samples
from ciguard.levels.model.suspicion import isolated, suspicion

A, B = [[1.0, 2.0, 4.0]], [[0.1, 0.2, 0.7]]


def on(*outcomes: Outcome) -> dict[str, Outcome]:
    return dict(zip(ENGINES, outcomes, strict=False))


def test_targets_that_agree_raise_no_suspicion() -> None:
    off = np.array(B) * (1 + 1e-7)

    assert (
        suspicion(MODEL, on(predicted(first=A, second=B), predicted(first=A, second=off))) is None
    )


def test_the_layer_at_which_the_difference_grows_is_the_suspect() -> None:
    right = predicted(first=A, second=B)
    wrong = predicted(first=A, second=[[0.1, 0.3, 0.6]])

    doubt = suspicion(MODEL, on(right, wrong, right))

    assert doubt is not None
    assert doubt.suspects == ("second",)
    assert doubt.witness == "torch"
    rates = dict(doubt.deviations)
    assert rates["first"] == 0
    assert rates["second"] == pytest.approx((0.2 / 3) / EPSILON, rel=1e-5)


def test_a_layer_that_only_passes_a_difference_on_is_no_suspect() -> None:
    right = predicted(first=A, second=B)
    wrong = predicted(first=[[2.0, 3.0, 5.0]], second=[[0.2, 0.3, 0.8]])

    doubt = suspicion(MODEL, on(right, wrong, right))

    assert doubt is not None
    assert doubt.suspects == ("first",)


def test_the_first_layer_with_nan_is_the_suspect() -> None:
    right = predicted(first=A, second=B)
    wrong = predicted(first=[[np.nan, 2.0, 4.0]], second=[[np.nan] * 3])

    doubt = suspicion(MODEL, on(right, right, wrong))

    assert doubt is not None
    assert doubt.suspects == ("first",)


def test_a_layer_that_raised_is_the_suspect_and_after_a_crash_all_are() -> None:
    right = predicted(first=A, second=B)
    raised = Errored("SystemError", "layer 'second': unreachable")

    named = suspicion(MODEL, on(right, raised, right))
    dead = suspicion(MODEL, on(right, Crashed("SIGABRT"), right))

    assert named is not None
    assert dead is not None
    assert named.suspects == ("second", "first")  # it may have been given something wrong
    assert dead.suspects == ("first", "second")


@pytest.mark.parametrize(
    "outcomes",
    [
        [Rejected("ValueError", "layer 'first': no")] * 3,
        [Rejected("AttributeError", "no such layer", Stage.BUILD), alone(B), alone(B)],
    ],
)
def test_an_invalid_model_and_a_missing_layer_raise_no_suspicion(outcomes: list[Outcome]) -> None:
    assert suspicion(MODEL, on(*outcomes)) is None


@pytest.mark.parametrize("check", Check)
def test_no_conclusive_run_raises_no_suspicion(check: Check) -> None:
    unable = Exhausted(Resource.MEMORY), Rejected("AttributeError", "none", Stage.BUILD)

    assert suspicion(replace(MODEL, check=check), on(*unable)) is None


def test_conclusive_runs_are_compared() -> None:
    wrong = predicted(first=A, second=[[0.1, 0.3, 0.6]])

    doubt = suspicion(MODEL, on(predicted(first=A, second=B), Exhausted(Resource.MEMORY), wrong))

    assert doubt is not None
    assert doubt.suspects == ("second",)


def test_each_kind_of_layer_is_a_suspect_of_training_and_saving() -> None:
    train, save = replace(MODEL, check=Check.TRAIN), replace(MODEL, check=Check.SAVE)
    one, other = ({"loss": np.float32(loss)} for loss in (1.0, 2.0))
    kept, lost = ({"before": [np.array(A)], "after": [np.array(x)]} for x in (A, B))

    trained = suspicion(train, on(returned(one), returned(other)))
    saved = suspicion(save, on(returned(kept), returned(lost)))

    assert trained is not None
    assert saved is not None
    assert trained.suspects == saved.suspects == ("second", "first")
    assert suspicion(train, on(returned(one), returned(one))) is None
    assert suspicion(save, on(returned(kept), returned(kept))) is None


def test_a_layer_is_isolated_with_numbers_in_the_range_of_its_inputs() -> None:
    doubt = suspicion(
        MODEL, on(predicted(first=A, second=B), predicted(first=A, second=[[0.2, 0.2, 0.6]]))
    )
    assert doubt is not None

    case = isolated(doubt, "second")

    assert case.api == SECOND.layer
    assert case.is_one_layer
    assert case.graph.node(ONE_LAYER).inputs == ("x0",)
    assert case.data == (ArrayValue("float32", (2, 3), Uniform(MODEL.seed, 1.0, 4.0)),)
    assert case.truth.shape == (2, 3)
    assert case.origin.deviations == doubt.deviations
    assert case.origin.mutations == MODEL.origin.mutations
    assert case.origin.suspect == "second"
    assert isolated(doubt, "first").data == MODEL.data  # what the model itself was fed


def test_a_layer_is_isolated_with_the_given_inputs() -> None:
    doubt = suspicion(MODEL, on(predicted(first=A, second=B), Crashed("SIGSEGV")))
    given_data = ArrayValue("float32", (1, 3), Explicit((1.0, 2.0, 3.0)))
    assert doubt is not None

    case = isolated(doubt, "second", (given_data,))

    assert case.data == (given_data,)
    assert case.truth.shape[0] == 1


def test_a_shared_layer_is_isolated_with_the_configuration_of_its_owner() -> None:
    again = replace(FIRST, name="again", shares="first", config={}, inputs=("x",))
    shared = replace(MODEL, graph=LayerGraph(nodes=(X, FIRST, again), outputs=("again",)))
    doubt = suspicion(shared, on(predicted(first=A, again=A), Crashed("SIGSEGV")))
    assert doubt is not None

    assert isolated(doubt, "again").graph.node(ONE_LAYER).config == FIRST.config


def test_constant_inputs_stay_constant() -> None:
    flat = predicted(first=[[2.0, 2.0, 2.0]], second=B)
    doubt = suspicion(MODEL, on(flat, Crashed("SIGSEGV")))
    assert doubt is not None

    assert isolated(doubt, "second").data[0] == ArrayValue("float32", (2, 3), Constant(2.0))


@given(st.lists(st.floats(-10, 10, width=32), min_size=3, max_size=3), st.integers(0, 2))
def test_no_suspect_comes_before_the_first_difference(elements: list[float], place: int) -> None:
    """Whatever a layer computes, one whose output is the same on all targets is never blamed."""
    changed = list(elements)
    changed[place] += 1.0
    right = predicted(first=[elements], second=B)

    doubt = suspicion(MODEL, on(right, predicted(first=[elements], second=[changed])))

    assert doubt is None or "first" not in doubt.suspects


@pytest.mark.parametrize("result", [{"layers": 3}, {"layers": {"a": 1}}, {}, {"layers": {}}])
def test_a_run_without_layer_samples_is_no_error(result: dict[str, Any]) -> None:
    output = decode_outputs(returned(result).encoded)
    assert output is not None

    assert layer_samples(output) == {}


def test_inputs_are_no_suspects() -> None:
    assert X.layer == INPUT
    doubt = suspicion(MODEL, on(Crashed("SIGSEGV"), Crashed("SIGSEGV")))

    assert doubt is not None
    assert "x" not in doubt.suspects
    assert doubt.witness == ""


THIRD = LayerNode(name="third", layer="keras.layers.ReLU", inputs=("second",), shape=(3,))
LONGER = replace(MODEL, graph=LayerGraph(nodes=(*MODEL.graph.nodes, THIRD), outputs=(THIRD.name,)))


def sampled(output: Any, **form: Any) -> Outcome:
    """Return a prediction whose first layer is told to be of another type or shape."""
    described = layers(first=output, second=output)
    described["first"] |= form
    return returned({"outputs": [np.asarray(output, dtype=np.float32)], "layers": described})


@pytest.mark.parametrize("form", [{"dtype": "float64"}, {"shape": [3, 1]}])
def test_another_type_or_shape_is_a_deviation_though_the_next_layer_rounds_it_away(
    form: dict[str, Any],
) -> None:
    doubt = suspicion(MODEL, on(sampled(A), sampled(A, **form), sampled(A)))

    assert doubt is not None
    assert doubt.suspects == ("first",)


def test_layers_after_a_deviating_one_are_hidden() -> None:
    right = predicted(first=A, second=B, third=B)
    wrong = predicted(first=[[2.0, 3.0, 5.0]], second=[[0.2, 0.3, 0.8]], third=[[0.2, 0.3, 0.8]])

    doubt = suspicion(LONGER, on(right, wrong, right))
    suspected = suspicion(LONGER, on(right, predicted(first=A, second=B, third=A), right))

    assert doubt is not None
    assert doubt.suspects == ("first",)
    assert doubt.hidden == ("second", "third")
    assert suspected is not None
    assert suspected.suspects == ("third",)
    assert suspected.hidden == ()


def trained(**gradients: float) -> Outcome:
    gradients_by_weight = {f"{node}/kernel": np.full(3, value) for node, value in gradients.items()}
    return returned({"loss": np.float64(1.0), "gradients": gradients_by_weight})


@pytest.mark.parametrize(
    ("wrong", "suspects"),
    [
        # What stands last has right gradients of its own, and may hand on a wrong one.
        ({"first": 2.0, "second": 2.0, "third": 1.0}, ("third", "second", "first")),
        ({"first": 2.0, "second": 1.0, "third": 1.0}, ("second", "first", "third")),
        ({"first": 2.0, "second": 2.0, "third": 2.0}, ("third", "second", "first")),
        ({"first": 1.0, "second": 1.0, "third": 2.0}, ("third", "second", "first")),
    ],
)
def test_the_first_suspect_is_where_gradients_start_to_differ(
    wrong: dict[str, float], suspects: tuple[str, ...]
) -> None:
    right = trained(first=1.0, second=1.0, third=1.0)

    doubt = suspicion(replace(LONGER, check=Check.TRAIN), on(right, trained(**wrong), right))

    assert doubt is not None
    assert doubt.suspects == suspects


def test_layers_before_a_rejecting_one_are_suspects_nearest_first() -> None:
    right = predicted(first=A, second=B, third=B)
    refused = Rejected("ValueError", "layer 'second': wrong shape")

    doubt = suspicion(LONGER, on(right, refused, right))

    assert doubt is not None
    assert doubt.suspects == ("second", "first")


def test_a_tensor_passed_twice_stays_one_input() -> None:
    twice = LayerNode(
        name="third",
        layer="keras.layers.Minimum",
        inputs=("second", "first", "second"),
        as_list=True,
        shape=(3,),
    )
    graph = LayerGraph(nodes=(*MODEL.graph.nodes, twice), outputs=("third",))
    case = replace(MODEL, graph=graph)
    right = predicted(first=A, second=B, third=B)
    doubt = suspicion(case, on(right, predicted(first=A, second=B, third=A), right))
    assert doubt is not None

    alone_ = isolated(doubt, "third")

    assert alone_.graph.node(ONE_LAYER).inputs == ("x0", "x1", "x0")
    assert [node.name for node in alone_.graph.inputs] == ["x0", "x1"]
    one, other = alone_.data
    assert one != other
    assert alone_.is_one_layer
