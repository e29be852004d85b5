"""Look-up of APIs by every name, and of APIs that may replace them."""

from __future__ import annotations

import pytest
from code_records import CONV2D, DENSE, NORM, apis

from ciguard.levels.code.knowledge import (
    INPUT_SIZES,
    data_parameters,
    rank_after,
    spatial_dimensions,
)
from ciguard.values import OneOf


@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("torch.nn.Conv2d", "torch.nn.Conv2d"),
        ("torch.nn.BatchNorm2d", "torch.nn.BatchNorm"),
        ("keras.layers.Dense", "tensorflow.keras.layers.Dense"),
        ("tensorflow.keras.layers.Dense", "tensorflow.keras.layers.Dense"),
    ],
)
def test_an_api_is_found_by_each_of_its_names(written: str, listed: str) -> None:
    known = apis().find(written)

    assert known is not None
    assert known.record.api == listed


@pytest.mark.parametrize("name", ["torch.nn.Unheard", "keras", "", "mykeras.layers.Dense"])
def test_unknown_names_have_no_api(name: str) -> None:
    assert apis().find(name) is None


def test_siblings_have_the_programs_spelling() -> None:
    names = [name for name, _ in apis().siblings("torch.nn.BatchNorm2d")]

    assert "torch.nn.InstanceNorm2d" in names
    assert not {"torch.nn.InstanceNorm", "torch.nn.InstanceNorm1d"} & set(names)
    assert "torch.nn.InstanceNorm" in dict(apis().siblings("torch.nn.BatchNorm"))


def test_base_classes_and_other_dimensions_are_no_siblings() -> None:
    names = {name for name, _ in apis().siblings("torch.nn.Conv2d")}

    assert {"torch.nn.ReLU", "torch.nn.MaxPool2d"} <= names
    assert names.isdisjoint({"torch.nn.Module", "torch.nn.Conv1d"})


def test_layers_that_take_more_tensors_are_siblings() -> None:
    assert "torch.nn.BCELoss" in dict(apis().siblings("torch.nn.Conv2d"))


def test_in_place_functions_and_those_of_more_tensors_are_no_siblings() -> None:
    names = [name for name, _ in apis().siblings("torch.nn.functional.relu")]

    assert names == ["torch.nn.functional.elu"]


def test_an_unknown_api_has_no_siblings() -> None:
    assert list(apis().siblings("torch.nn.Unheard")) == []


def test_dimensions_are_read_from_all_names() -> None:
    assert spatial_dimensions(CONV2D) == {"2"}
    assert spatial_dimensions(NORM) == {"1", "2"}


def test_keras_activations_are_choices_of_the_activation_parameter() -> None:
    known = apis().find(DENSE.api)

    assert known is not None
    activation = next(p for p in known.parameters if p.name == "activation")
    assert isinstance(activation.constraint, OneOf)
    assert [getattr(v, "value", None) for v in activation.constraint.values] == ["relu"]


def test_the_data_of_a_function_are_its_required_tensors() -> None:
    linear, relu = apis().find("torch.nn.functional.linear"), apis().find("torch.nn.ReLU")

    assert linear is not None
    assert relu is not None
    assert data_parameters(linear) == ("input", "weight")
    assert data_parameters(relu) == ("input",)


def test_input_sizes_are_the_parameters_that_depend_on_the_data() -> None:
    assert {"in_channels", "in_features", "num_features", "input_size", "normalized_shape"} <= (
        INPUT_SIZES
    )
    assert not {"out_channels", "out_features", "units", "kernel_size"} & INPUT_SIZES


@pytest.mark.parametrize(
    ("before", "after", "rank"),
    [
        ("torch.nn.ReLU", "torch.nn.Conv3d", 5),
        ("keras.layers.Dropout", "keras.layers.GlobalAveragePooling1D", 3),
        ("torch.nn.Conv2d", "torch.nn.ConvTranspose2d", None),
        ("torch.nn.ReLU", "torch.nn.Sigmoid", None),
    ],
)
def test_a_layers_name_implies_the_rank_of_its_input(
    before: str, after: str, rank: int | None
) -> None:
    assert rank_after(before, after) == rank
