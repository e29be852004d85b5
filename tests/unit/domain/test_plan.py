"""Plans: JSON round trips, and errors that name the malformed key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.plan import (
    PackageChange,
    Place,
    Plan,
    PlanMode,
    PlannedJob,
    SkippedJob,
    plan_from_json,
    plan_to_json,
)

if TYPE_CHECKING:
    from ciguard.domain.values import Json

JOB = {"name": "a", "targets": [], "base": [], "device": "cpu", "runs_on": [], "shard": "1/1"}
TEXTS = st.lists(st.text(max_size=9), max_size=3).map(tuple)
PLACES = st.builds(Place, path=st.just("src/model.py"), line=st.integers(1, 9999))
VERSIONS = st.none() | st.text(max_size=9)
PLANS = st.builds(
    Plan,
    mode=st.sampled_from(PlanMode),
    reasons=TEXTS,
    changes=st.lists(
        st.builds(PackageChange, package=st.text(), base=VERSIONS, head=VERSIONS, place=PLACES),
        max_size=2,
    ).map(tuple),
    jobs=st.lists(
        st.builds(PlannedJob, name=st.text(), targets=TEXTS, base=TEXTS, runs_on=TEXTS),
        max_size=2,
    ).map(tuple),
    skipped=st.lists(
        st.builds(SkippedJob, name=st.text(), targets=TEXTS, device=st.text(), reason=st.text()),
        max_size=2,
    ).map(tuple),
    focus=TEXTS,
    uses=st.dictionaries(st.text(max_size=9), st.lists(PLACES, max_size=2).map(tuple), max_size=2),
)


@given(PLANS)
def test_plan_round_trips_through_json(plan: Plan) -> None:
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema 2; this"),
        ({"mode": "sudo"}, "unknown mode 'sudo'"),
        ({"focus": ["torch.*", 7]}, "'focus' is not a list of strings"),
        ({"jobs": [7]}, "a row of 'jobs' is not a JSON object"),
        ({"jobs": [JOB | {"shard": "5/4"}]}, "a row of 'jobs': shard '5/4': shard 5 of 4"),
        ({"jobs": [JOB | {"shard": "all"}]}, "a row of 'jobs': shard 'all': not a shard"),
        ({"uses": {"torch.add": "a.py"}}, "'torch.add' is not of type list"),
        (
            {"uses": {"torch.add": [{"path": "../../etc/passwd", "line": 1}]}},
            "outside the repository",
        ),
        ({"uses": {"torch.add": [{"path": "a.py", "line": True}]}}, "'line' is not of type int"),
        ({"uses": {"torch.add": [{"path": "a" * 5000, "line": 1}]}}, "exceeds 4096 characters"),
    ],
)
def test_plan_from_json_with_a_malformed_member_raises_with_its_key(
    change: dict[str, object], message: str
) -> None:
    data = plan_to_json(Plan(mode=PlanMode.BATCH))
    assert isinstance(data, dict)
    with pytest.raises(ValueError, match=message):
        plan_from_json({**data, **change})


def test_plan_from_json_limits_lines_to_what_github_accepts() -> None:
    data = plan_to_json(Plan(mode=PlanMode.BATCH))
    assert isinstance(data, dict)
    uses: Json = {"torch.add": [{"path": "a.py", "line": 10**30}]}

    plan = plan_from_json({**data, "uses": uses})

    assert plan.uses["torch.add"] == (Place(path="a.py", line=2**31 - 1),)
