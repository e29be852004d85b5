"""What is said of a group's targets by what became of their cases."""

from __future__ import annotations

import pytest
from campaign_examples import group, member

ONE, OTHER = "ciguard-planted==1.0", "ciguard-planted==1.0@cuda"


@pytest.mark.parametrize(
    ("unbuilt", "cases", "warned"),
    [(300, 400, [OTHER]), (40, 400, []), (150, 150, [])],
    ids=["most", "a few types less", "too few cases to tell"],
)
def test_a_target_that_can_make_few_arguments_is_named(
    unbuilt: int, cases: int, warned: list[str]
) -> None:
    tested = group(member(ONE), member(OTHER))
    tested.members[ONE].count((), {"passed": 390, "rejected": 10})
    tested.members[ONE].unbuilt = 10
    tested.members[OTHER].count((), {"passed": cases - unbuilt, "rejected": unbuilt})
    tested.members[OTHER].unbuilt = unbuilt

    assert [text.partition(": ")[0] for text in tested.ill_built()] == warned
