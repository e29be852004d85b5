"""Suspicion: the layers to run alone if targets disagree on a model."""

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
from ciguard.levels.model.suspicion import isolated_run, suspicion

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

    model_suspicion = suspicion(MODEL, on(right, wrong, right))

    assert model_suspicion is not None
    assert model_suspicion.suspects == ("second",)
    assert model_suspicion.witness == "torch"
    rates = dict(model_suspicion.deviations)
    assert rates["first"] == 0
    assert rates["second"] == pytest.approx((0.2 / 3) / EPSILON, rel=1e-5)


def test_a_single_layer_is_suspected_for_outputs_that_its_sample_lacks() -> None:
    single = replace(
        MODEL, graph=LayerGraph(nodes=(X, replace(FIRST, inputs=("x",))), outputs=("first",))
    )
    right, wrong = predicted(first=A), predicted(first=A)
    wrong = returned(
        {"outputs": [np.asarray([[1.0, 9.0, 4.0]], np.float32)], "layers": layers(first=A)}
    )

    found = suspicion(single, on(right, wrong, right))

    assert found is not None
    assert found.suspects == ("first",)
    assert suspicion(single, on(right, right, right)) is None


def test_a_layer_that_only_passes_a_difference_on_is_no_suspect() -> None:
    right = predicted(first=A, second=B)
    wrong = predicted(first=[[2.0, 3.0, 5.0]], second=[[0.2, 0.3, 0.8]])

    model_suspicion = suspicion(MODEL, on(right, wrong, right))

    assert model_suspicion is not None
    assert model_suspicion.suspects == ("first",)


def test_the_first_layer_with_nan_is_the_suspect() -> None:
    right = predicted(first=A, second=B)
    wrong = predicted(first=[[np.nan, 2.0, 4.0]], second=[[np.nan] * 3])

    model_suspicion = suspicion(MODEL, on(right, right, wrong))

    assert model_suspicion is not None
    assert model_suspicion.suspects == ("first",)


def test_a_layer_that_raised_is_the_suspect_and_after_a_crash_all_are() -> None:
    right = predicted(first=A, second=B)
    raised = Errored("SystemError", "layer 'second': unreachable")

    after_exception = suspicion(MODEL, on(right, raised, right))
    after_crash = suspicion(MODEL, on(right, Crashed("SIGABRT"), right))

    assert after_exception is not None
    assert after_crash is not None
    assert after_exception.suspects == (
        "second",
        "first",
    )  # the layer before it may have passed on a wrong input
    assert after_crash.suspects == ("first", "second")


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

    model_suspicion = suspicion(
        MODEL, on(predicted(first=A, second=B), Exhausted(Resource.MEMORY), wrong)
    )

    assert model_suspicion is not None
    assert model_suspicion.suspects == ("second",)


def test_each_kind_of_layer_is_a_suspect_of_training_and_saving() -> None:
    train, save = replace(MODEL, check=Check.TRAIN), replace(MODEL, check=Check.SAVE)
    one, other = ({"loss": np.float32(loss)} for loss in (1.0, 2.0))
    unchanged, changed_by_saving = (
        {"before": [np.array(A)], "after": [np.array(x)]} for x in (A, B)
    )

    trained = suspicion(train, on(returned(one), returned(other)))
    saved = suspicion(save, on(returned(unchanged), returned(changed_by_saving)))

    assert trained is not None
    assert saved is not None
    assert trained.suspects == saved.suspects == ("second", "first")
    assert suspicion(train, on(returned(one), returned(one))) is None
    assert suspicion(save, on(returned(unchanged), returned(unchanged))) is None


def test_a_layer_is_isolated_with_numbers_in_the_range_of_its_inputs() -> None:
    model_suspicion = suspicion(
        MODEL, on(predicted(first=A, second=B), predicted(first=A, second=[[0.2, 0.2, 0.6]]))
    )
    assert model_suspicion is not None

    case = isolated_run(model_suspicion, "second")

    assert case.api == SECOND.layer
    assert case.is_one_layer
    assert case.graph.node(ONE_LAYER).inputs == ("x0",)
    assert case.data == (ArrayValue("float32", (2, 3), Uniform(MODEL.seed, 1.0, 4.0)),)
    assert case.truth.shape == (2, 3)
    assert case.origin.deviations == model_suspicion.deviations
    assert case.origin.mutations == MODEL.origin.mutations
    assert case.origin.suspect == "second"
    assert isolated_run(model_suspicion, "first").data == MODEL.data  # the input of the model


def test_a_layer_is_isolated_with_the_given_inputs() -> None:
    model_suspicion = suspicion(MODEL, on(predicted(first=A, second=B), Crashed("SIGSEGV")))
    given_data = ArrayValue("float32", (1, 3), Explicit((1.0, 2.0, 3.0)))
    assert model_suspicion is not None

    case = isolated_run(model_suspicion, "second", (given_data,))

    assert case.data == (given_data,)
    assert case.truth.shape[0] == 1


def test_a_shared_layer_is_isolated_with_the_configuration_of_its_owner() -> None:
    again = replace(FIRST, name="again", shares="first", config={}, inputs=("x",))
    shared = replace(MODEL, graph=LayerGraph(nodes=(X, FIRST, again), outputs=("again",)))
    model_suspicion = suspicion(shared, on(predicted(first=A, again=A), Crashed("SIGSEGV")))
    assert model_suspicion is not None

    assert isolated_run(model_suspicion, "again").graph.node(ONE_LAYER).config == FIRST.config


def test_constant_inputs_stay_constant() -> None:
    flat = predicted(first=[[2.0, 2.0, 2.0]], second=B)
    model_suspicion = suspicion(MODEL, on(flat, Crashed("SIGSEGV")))
    assert model_suspicion is not None

    assert isolated_run(model_suspicion, "second").data[0] == ArrayValue(
        "float32", (2, 3), Constant(2.0)
    )


@given(st.lists(st.floats(-10, 10, width=32), min_size=3, max_size=3), st.integers(0, 2))
def test_no_layer_before_the_first_difference_is_a_suspect(
    elements: list[float], place: int
) -> None:
    """A layer whose output is equal on all targets is never a suspect."""
    changed = list(elements)
    changed[place] += 1.0
    right = predicted(first=[elements], second=B)

    model_suspicion = suspicion(MODEL, on(right, predicted(first=[elements], second=[changed])))

    assert model_suspicion is None or "first" not in model_suspicion.suspects


@pytest.mark.parametrize("result", [{"layers": 3}, {"layers": {"a": 1}}, {}, {"layers": {}}])
def test_a_run_without_layer_samples_is_no_error(result: dict[str, Any]) -> None:
    output = decode_outputs(returned(result).encoded)
    assert output is not None

    assert layer_samples(output) == {}


def test_inputs_are_no_suspects() -> None:
    assert X.layer == INPUT
    model_suspicion = suspicion(MODEL, on(Crashed("SIGSEGV"), Crashed("SIGSEGV")))

    assert model_suspicion is not None
    assert "x" not in model_suspicion.suspects
    assert model_suspicion.witness == ""


THIRD = LayerNode(name="third", layer="keras.layers.ReLU", inputs=("second",), shape=(3,))
LONGER = replace(MODEL, graph=LayerGraph(nodes=(*MODEL.graph.nodes, THIRD), outputs=(THIRD.name,)))


def sampled(output: Any, **form: Any) -> Outcome:
    """Return a prediction in which the first layer's type or shape is replaced."""
    described = layers(first=output, second=output)
    described["first"] |= form
    return returned({"outputs": [np.asarray(output, dtype=np.float32)], "layers": described})


@pytest.mark.parametrize("form", [{"dtype": "float64"}, {"shape": [3, 1]}])
def test_another_type_or_shape_is_a_deviation_even_if_later_layers_hide_it(
    form: dict[str, Any],
) -> None:
    model_suspicion = suspicion(MODEL, on(sampled(A), sampled(A, **form), sampled(A)))

    assert model_suspicion is not None
    assert model_suspicion.suspects == ("first",)


def test_layers_after_a_deviating_one_are_hidden() -> None:
    right = predicted(first=A, second=B, third=B)
    wrong = predicted(first=[[2.0, 3.0, 5.0]], second=[[0.2, 0.3, 0.8]], third=[[0.2, 0.3, 0.8]])

    model_suspicion = suspicion(LONGER, on(right, wrong, right))
    suspected = suspicion(LONGER, on(right, predicted(first=A, second=B, third=A), right))

    assert model_suspicion is not None
    assert model_suspicion.suspects == ("first",)
    assert model_suspicion.hidden == ("second", "third")
    assert suspected is not None
    assert suspected.suspects == ("third",)
    assert suspected.hidden == ()


def trained(**gradients: float) -> Outcome:
    gradients_by_weight = {f"{node}/kernel": np.full(3, value) for node, value in gradients.items()}
    return returned({"loss": np.float64(1.0), "gradients": gradients_by_weight})


@pytest.mark.parametrize(
    ("wrong", "suspects"),
    [
        # The last layer has equal gradients of its weights, but may pass on a wrong gradient.
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

    model_suspicion = suspicion(
        replace(LONGER, check=Check.TRAIN), on(right, trained(**wrong), right)
    )

    assert model_suspicion is not None
    assert model_suspicion.suspects == suspects


def test_layers_before_a_rejecting_one_are_suspects_nearest_first() -> None:
    right = predicted(first=A, second=B, third=B)
    refused = Rejected("ValueError", "layer 'second': wrong shape")

    model_suspicion = suspicion(LONGER, on(right, refused, right))

    assert model_suspicion is not None
    assert model_suspicion.suspects == ("second", "first")


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
    model_suspicion = suspicion(case, on(right, predicted(first=A, second=B, third=A), right))
    assert model_suspicion is not None

    layer_case = isolated_run(model_suspicion, "third")

    assert layer_case.graph.node(ONE_LAYER).inputs == ("x0", "x1", "x0")
    assert [node.name for node in layer_case.graph.inputs] == ["x0", "x1"]
    one, other = layer_case.data
    assert one != other
    assert layer_case.is_one_layer
