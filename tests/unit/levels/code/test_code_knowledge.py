"""APIs by every name that programs call them by, and what stands in their place."""

from __future__ import annotations

import pytest
from code_records import CONV2D, DENSE, NORM, apis

from ciguard.levels.code.knowledge import INPUT_SIZES, data_parameters, rank_after, spaces
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
def test_nothing_is_known_of_other_names(name: str) -> None:
    assert apis().find(name) is None


def test_siblings_are_written_as_the_program_would() -> None:
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


def test_functions_that_overwrite_or_take_more_tensors_are_no_siblings() -> None:
    names = [name for name, _ in apis().siblings("torch.nn.functional.relu")]

    assert names == ["torch.nn.functional.elu"]


def test_an_unknown_api_has_no_siblings() -> None:
    assert list(apis().siblings("torch.nn.Unheard")) == []


def test_dimensions_are_read_from_all_names() -> None:
    assert spaces(CONV2D) == {"2"}
    assert spaces(NORM) == {"1", "2"}


def test_keras_activations_are_the_choices_of_a_layer() -> None:
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


def test_sizes_of_the_input_are_those_that_the_way_of_the_data_decides() -> None:
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
def test_names_say_what_rank_a_layer_takes(before: str, after: str, rank: int | None) -> None:
    assert rank_after(before, after) == rank
