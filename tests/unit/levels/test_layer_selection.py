"""Selection of the layers that mutants may use."""

from __future__ import annotations

import pytest

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord
from ciguard.levels import select, select_layers


def layer(name: str, *aliases: str, tags: frozenset[str] = frozenset()) -> ApiRecord:
    return ApiRecord(
        api=f"keras.layers.{name}",
        kind=CallKind.LAYER,
        parameters=(),
        aliases=tuple(f"keras.layers.{alias}" for alias in aliases),
        tags=tags,
    )


POOLING = layer("MaxPool2D", "MaxPooling2D")
WRAPPER = layer("Bidirectional", tags=frozenset({"callback"}))
DENSE = layer("Dense")
RECORDS = (POOLING, WRAPPER, DENSE)


@pytest.mark.parametrize("name", ["keras.layers.MaxPooling2D", "keras.layers.MaxPool2D", "*Pool*"])
def test_a_layer_is_selected_by_any_of_its_names(name: str) -> None:
    assert select_layers(RECORDS, (name,)) == (POOLING,)
    assert select_layers(RECORDS, exclude=(name,)) == (WRAPPER, DENSE)


def test_a_wrapping_layer_is_selected_although_its_calls_are_not() -> None:
    assert select_layers(RECORDS) == RECORDS
    assert select(RECORDS) == (POOLING, DENSE)
