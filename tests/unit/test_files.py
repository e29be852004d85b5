from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.files import parse_json, read_lines

if TYPE_CHECKING:
    from pathlib import Path

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
DOCUMENTS = st.recursive(
    SCALARS.filter(lambda value: value not in {float("inf"), float("-inf")}),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(DOCUMENTS)
def test_parse_json_returns_the_document(document: Any) -> None:
    assert parse_json(json.dumps(document)) == document


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "[" * 200_000, "", "[1"])
def test_parse_json_without_finite_numbers_raises(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)


def test_parse_json_of_too_many_elements_raises() -> None:
    assert parse_json("[1,2,3]", max_elements=3) == [1, 2, 3]
    with pytest.raises(ValueError, match="more than 2 elements"):
        parse_json("[1,2,3]", max_elements=2)


def test_read_lines_keeps_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("é\n\nlast", "utf-8")

    assert list(read_lines(path, max_bytes=100, max_line=10)) == ["é\n", "\n", "last"]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_bytes": 100, "max_line": 3}, "line 2 exceeds 3 bytes"),
        ({"max_bytes": 5, "max_line": 3}, "larger than 5 bytes"),
    ],
)
def test_read_lines_beyond_its_limits_raises(
    tmp_path: Path, limits: dict[str, int], reason: str
) -> None:
    path = tmp_path / "lines"
    path.write_text("a\nlonger\n", "utf-8")

    with pytest.raises(ValueError, match=reason):
        list(read_lines(path, **limits))


def test_read_lines_of_a_pipe_or_a_link_raises(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")

    with pytest.raises(ValueError, match="not a regular file"):
        list(read_lines(tmp_path / "pipe", max_bytes=9, max_line=9))
    with pytest.raises(OSError, match="link"):
        list(read_lines(tmp_path / "link", max_bytes=9, max_line=9))
