"""A plan survives its file; a file that is no plan is refused by the key that is wrong."""

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
_TEXTS = st.lists(st.text(max_size=9), max_size=3).map(tuple)
_PLACES = st.builds(Place, path=st.just("src/model.py"), line=st.integers(1, 9999))
_VERSIONS = st.none() | st.text(max_size=9)
_PLANS = st.builds(
    Plan,
    mode=st.sampled_from(PlanMode),
    reasons=_TEXTS,
    changes=st.lists(
        st.builds(PackageChange, package=st.text(), base=_VERSIONS, head=_VERSIONS, place=_PLACES),
        max_size=2,
    ).map(tuple),
    jobs=st.lists(
        st.builds(PlannedJob, name=st.text(), targets=_TEXTS, base=_TEXTS, runs_on=_TEXTS),
        max_size=2,
    ).map(tuple),
    skipped=st.lists(
        st.builds(SkippedJob, name=st.text(), targets=_TEXTS, device=st.text(), reason=st.text()),
        max_size=2,
    ).map(tuple),
    focus=_TEXTS,
    uses=st.dictionaries(st.text(max_size=9), st.lists(_PLACES, max_size=2).map(tuple), max_size=2),
)


@given(_PLANS)
def test_a_plan_comes_back_from_its_file_as_it_was(plan: Plan) -> None:
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "'schema' is 2"),
        ({"mode": "sudo"}, "'mode' is 'sudo'"),
        ({"focus": ["torch.*", 7]}, "'focus' is no list of texts"),
        ({"jobs": [7]}, "a row of 'jobs' is no object"),
        ({"jobs": [JOB | {"shard": "5/4"}]}, "a row of 'jobs': 'shard' is '5/4': of 4 shards"),
        ({"jobs": [JOB | {"shard": "all"}]}, "a row of 'jobs': 'shard' is 'all': not a shard"),
        ({"uses": {"torch.add": "a.py"}}, "'torch.add' is not of type list"),
        ({"uses": {"torch.add": [{"path": "../../etc/passwd", "line": 1}]}}, "leads out"),
        ({"uses": {"torch.add": [{"path": "a.py", "line": True}]}}, "'line' is not of type int"),
        ({"uses": {"torch.add": [{"path": "a" * 5000, "line": 1}]}}, "longer than any"),
    ],
)
def test_what_is_no_plan_is_refused_by_its_key(change: dict[str, object], said: str) -> None:
    data = plan_to_json(Plan(mode=PlanMode.BATCH))
    assert isinstance(data, dict)
    with pytest.raises(ValueError, match=said):
        plan_from_json({**data, **change})


def test_a_line_beyond_what_github_takes_is_its_last() -> None:
    data = plan_to_json(Plan(mode=PlanMode.BATCH))
    assert isinstance(data, dict)
    uses: Json = {"torch.add": [{"path": "a.py", "line": 10**30}]}

    plan = plan_from_json({**data, "uses": uses})

    assert plan.uses["torch.add"] == (Place(path="a.py", line=2**31 - 1),)
