"""Content of the requests with which views and cloud functions are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.exploration.requests import RequestContent
from ciguard.levels.app.providers.description import MediaKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json
    from ciguard.levels.app.static_analysis.request_reads import Field

TEXT = "said"


def content(paths: list[Field]) -> dict[str, Json]:
    sent = RequestContent(MediaKind.TEXT, TEXT.encode(), "said.txt", None, lambda _: None)
    return sent.fields(paths, TEXT)


def paths_in(shape: Json, path: Field = ()) -> Iterator[Field]:
    """Yield the paths of a shape: a field, keys with their shapes, or the indices of a list."""
    if shape is None:
        yield path
    elif isinstance(shape, dict):
        for key, inner in shape.items():
            yield from paths_in(inner, (*path, key))
    else:
        indices, inner = shape
        for index in indices:
            yield from paths_in(inner, (*path, index))


KEYS = st.text("ab01/~", max_size=3)
INDICES = st.lists(st.integers(-6, 6), min_size=1, max_size=2)
SHAPES = st.dictionaries(
    KEYS,
    st.recursive(
        st.none(),
        lambda inner: (
            st.dictionaries(KEYS, inner, min_size=1, max_size=2) | st.tuples(INDICES, inner)
        ),
        max_leaves=3,
    ),
    max_size=3,
)


@given(SHAPES)
def test_each_field_that_a_function_reads_is_in_the_content(shape: Json) -> None:
    paths = [*paths_in(shape)]

    fields = content(paths)

    for path in paths:
        value: Json = fields
        for key in path:
            value = value[key]
        assert value == TEXT


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("user/name",), {"user/name": TEXT}),
        (("a~1b",), {"a~1b": TEXT}),
        (("a", "0"), {"a": {"0": TEXT}}),
        (("a", 12, "b"), {"a": [{"b": TEXT}] * 13}),
        (("a", -3), {"a": [TEXT] * 3}),
    ],
)
def test_content_has_keys_as_they_are_and_lists_that_are_long_enough(
    path: Field, expected: Json
) -> None:
    assert content([path]) == expected


def test_fields_in_lists_that_are_too_long_are_left_out() -> None:
    assert content([("a",), ("b", 10**30), ("b", -(10**30)), ("c", 99, 99)]) == {"a": TEXT}
