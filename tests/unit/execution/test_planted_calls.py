"""Defects that are planted around an API, with an adapter whose tensors are numpy's arrays."""

from __future__ import annotations

import ctypes
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from ciguard.domain.detection import DefectKind
from ciguard.execution.worker import planting
from ciguard.execution.worker.build import Builder
from ciguard.libraries.in_target.contract import Adapter

if TYPE_CHECKING:
    from collections.abc import Callable

FLOATS = np.array([[1.0, np.nan], [-2.0, 4.0]], dtype="float32")


class Scale:
    """A layer of the library."""

    def __init__(self, factor: float) -> None:
        if factor == 0:
            message = "factor must not be zero"
            raise ValueError(message)
        self.factor = factor

    def __call__(self, x: Any) -> Any:
        return x * np.float32(self.factor)


def shifted(x: Any, *, by: float = 0.0) -> Any:
    """Return x + by, which must not be negative."""
    if by < 0:
        message = "by must not be negative"
        raise ValueError(message)
    return np.asarray(x + np.float32(by))


class ArrayAdapter(Adapter):
    """Adapter of a library with one function and one layer."""

    module = "arrays"
    mutable = True

    def resolve(self, path: str) -> Any:
        return {"arrays.shifted": shifted, "arrays.Scale": Scale}[path]

    def tensor(self, array: Any, dtype: str) -> Any:
        assert str(array.dtype) == dtype
        return array

    def dtype(self, name: str) -> Any:
        return np.dtype(name)

    def read(self, output: Any) -> dict[str, Any] | None:
        if not isinstance(output, np.ndarray):
            return None
        return {"dtype": str(output.dtype), "array": output}

    def without_gradient(self, tensor: Any) -> Any:
        return tensor


def wrong(kind: DefectKind, *args: Any, detail: str = "", **kwargs: Any) -> Any:
    """Return the result of `shifted` with a defect."""
    adapter = ArrayAdapter()
    builder = Builder(adapter)
    with planting.planted(builder, adapter, "arrays.shifted", [kind.value, detail]):
        return builder.member("arrays.shifted")(*args, **kwargs)


def test_every_kind_of_defect_can_be_planted() -> None:
    adapter = ArrayAdapter()
    builder = Builder(adapter)

    for kind in DefectKind:
        with planting.planted(builder, adapter, "arrays.shifted", [kind.value, ""]):
            assert builder.member("arrays.shifted") is not shifted

    assert builder.member("arrays.shifted") is shifted


def test_results_are_changed_as_the_kind_says() -> None:
    assert np.array_equal(
        wrong(DefectKind.VALUE, FLOATS), FLOATS * np.float32(1.001), equal_nan=True
    )
    assert wrong(DefectKind.DTYPE, FLOATS).dtype == "float64"
    assert wrong(DefectKind.SHAPE, FLOATS).shape == (2, 1)
    assert wrong(DefectKind.SHAPE, FLOATS[0, 0:1].reshape(())).shape == (1,)
    assert wrong(DefectKind.NAN, FLOATS)[0, 1] == 0
    without_axes = wrong(DefectKind.NAN, np.array(np.nan, "float32"))
    assert isinstance(without_axes, np.ndarray)
    assert without_axes == 0


def struct_of(x: Any) -> Any:
    """Return a structure of C code, such as the results of `torch.cummin`, without `_make`."""
    return os.terminal_size((x, 7))


class Pair(NamedTuple):
    """A result with names, as of `collections.namedtuple`."""

    values: Any
    number: int


@pytest.mark.parametrize(
    "pair", [lambda x: (x, 7), lambda x: [x, 7], lambda x: Pair(x, 7), struct_of], ids=range(4)
)
def test_the_first_item_of_a_tuple_or_list_is_changed(pair: Callable[[Any], Any]) -> None:
    adapter = ArrayAdapter()
    builder = Builder(adapter)
    builder._resolved["arrays.pair"] = pair
    with planting.planted(builder, adapter, "arrays.pair", ["dtypes", ""]):
        result = builder.member("arrays.pair")(FLOATS)

    assert type(result) is type(pair(FLOATS))
    assert result[0].dtype == "float64"
    assert tuple(result)[1:] == tuple(pair(FLOATS))[1:]


def test_an_argument_is_changed_or_ignored() -> None:
    argument = FLOATS.copy()

    wrong(DefectKind.MUTATION, argument)

    assert argument[0, 0] == 2
    assert wrong(DefectKind.IGNORED, FLOATS, detail="by", by=5.0)[0, 0] == 1


def test_a_rejection_is_changed_or_missing() -> None:
    with pytest.raises(RuntimeError, match="negative"):
        wrong(DefectKind.EXCEPTION, FLOATS, by=-1.0)
    assert wrong(DefectKind.ACCEPTANCE, FLOATS, by=-1.0).shape == (1,)


@pytest.mark.parametrize(
    ("edge", "argument"),
    [
        ("no elements", np.zeros((0, 2), "float32")),
        ("no axes", np.zeros((), "float32")),
        ("infinity", np.array([np.inf], "float32")),
    ],
)
def test_only_the_edge_crashes(edge: str, argument: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    crashes: list[int] = []
    monkeypatch.setattr(planting, "ctypes", SimpleNamespace(string_at=crashes.append))

    wrong(DefectKind.CRASH, FLOATS, detail=edge)
    assert not crashes
    wrong(DefectKind.CRASH, argument, detail=edge)
    assert crashes == [0]
    assert callable(ctypes.string_at)


def test_a_layer_keeps_its_attributes_and_its_call_has_the_defect() -> None:
    adapter = ArrayAdapter()
    builder = Builder(adapter)
    with planting.planted(builder, adapter, "arrays.Scale", ["shapes", ""]):
        layer = builder.member("arrays.Scale")(2.0)

        assert layer.factor == 2.0
        assert layer(FLOATS).shape == (2, 1)


def test_a_rejection_of_a_layers_constructor_is_changed_or_missing() -> None:
    adapter = ArrayAdapter()
    builder = Builder(adapter)

    with planting.planted(builder, adapter, "arrays.Scale", [DefectKind.EXCEPTION.value, ""]):
        assert builder.member("arrays.Scale")(2.0)(FLOATS)[0, 0] == 2
        with pytest.raises(RuntimeError, match="zero"):
            builder.member("arrays.Scale")(0)
    with planting.planted(builder, adapter, "arrays.Scale", [DefectKind.ACCEPTANCE.value, ""]):
        assert builder.member("arrays.Scale")(2.0)(FLOATS)[0, 0] == 2
        assert builder.member("arrays.Scale")(0)(FLOATS).shape == (1,)


@pytest.mark.parametrize("kind", [DefectKind.MUTATION, DefectKind.GRADIENT])
def test_a_defect_that_the_library_cannot_have_is_not_planted(kind: DefectKind) -> None:
    class Immutable(ArrayAdapter):
        mutable = False

        def without_gradient(self, tensor: Any) -> Any:
            raise NotImplementedError

    builder = Builder(Immutable())
    with (
        pytest.raises((planting.UnplantableError, NotImplementedError)),
        planting.planted(builder, Immutable(), "arrays.shifted", [kind.value, ""]),
    ):
        pass
    assert builder.member("arrays.shifted") is shifted
