"""Which differences a changed default announces."""

from __future__ import annotations

import pytest
from announcement_examples import difference, documented

from ciguard.announcements import announcement
from ciguard.domain.records import ParameterRecord

X = ParameterRecord(name="x")


@pytest.mark.parametrize(("keywords", "is_announced"), [({}, True), ({"size": 1}, False)])
def test_a_changed_default_announces_calls_without_the_argument(
    keywords: dict[str, object], *, is_announced: bool
) -> None:
    base, head = (documented("", X, ParameterRecord(name="size", default=text)) for text in "12")

    announced = announcement(difference("values", 1, **keywords), base, head)  # type: ignore[arg-type]

    assert bool(announced) is is_announced
    assert announcement(difference("refused", 1, message="no", **keywords), base, head) == ""  # type: ignore[arg-type]
    named = difference("accepted", 1, message="bad size", **keywords)  # type: ignore[arg-type]
    assert bool(announcement(named, base, head)) is is_announced


@pytest.mark.parametrize("kind", ["values", "shape", "structure", "nan"])
def test_any_default_may_change_values_and_shapes(kind: str) -> None:
    base, head = (documented("", X, ParameterRecord(name="size", default=text)) for text in "12")

    assert announcement(difference(kind, 1), base, head) != ""


@pytest.mark.parametrize(
    ("kind", "name", "before", "after", "is_announced"),
    [
        ("dtype", "index", "None", "0", False),
        ("dtype", "index", "0", "1", False),
        ("dtype", "index", "0", "0.0", True),
        ("dtype", "index", "'int'", "'float64'", True),
        ("dtype", "out_dtype", "None", "'auto'", True),
        ("mutation", "index", "0", "1", False),
        ("mutation", "copy", "True", "False", True),
        ("aliasing", "index", "0", "1", False),
        ("aliasing", "copy", "True", "False", True),
    ],
)
def test_only_a_default_about_dtypes_or_memory_changes_these(
    kind: str, name: str, before: str, after: str, *, is_announced: bool
) -> None:
    base, head = (
        documented("", X, ParameterRecord(name=name, default=text)) for text in (before, after)
    )

    assert bool(announcement(difference(kind, 1), base, head)) is is_announced
