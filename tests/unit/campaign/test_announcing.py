"""Announced changes of a run: which targets are compared, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from campaign_examples import ONE, TWO, bucket, difference, group, member, record

from ciguard.campaign.announcing import announce
from ciguard.campaign.budget import Budget
from ciguard.config import Config
from ciguard.domain.documentation import DocumentationCheck
from ciguard.domain.events import DocumentationChecked, StageFinished, Warned
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.policy import Action, PolicyRule
from ciguard.errors import WorkerStartError

if TYPE_CHECKING:
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.findings import Bucket, Finding

CUBE, DOUBLE, GONE = "planted.cube", "planted.double", "planted.gone"


@dataclass
class Target:
    """A target that answers with fixed docstrings and warnings."""

    docs: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)
    is_gone: bool = False
    calls: int = 0

    def docstrings(self, apis: list[str]) -> dict[str, str]:
        if self.is_gone:
            msg = "the server is gone"
            raise WorkerStartError(msg)
        return {api: self.docs[api] for api in apis if api in self.docs}

    def deprecation_warnings(self, case: Any, *, limit_s: float) -> list[str]:
        assert case[0] == CUBE
        assert limit_s > 0
        self.calls += 1
        return self.warned


class Collector:
    """A collector of fixed buckets that records which ones are announced."""

    def __init__(self, *buckets: Bucket) -> None:
        self.buckets = buckets
        self.announced: dict[str, str] = {}

    def by_severity(self) -> tuple[Bucket, ...]:
        return self.buckets

    def set_announced(self, found: Bucket, announced: str) -> None:
        self.announced[found.fingerprint] = announced


def state_of(
    *findings: Finding,
    base: Target | None = None,
    head: Target | None = None,
    config: Config | None = None,
) -> CampaignState:
    old, new = member(ONE, CUBE, DOUBLE, GONE), member(TWO, CUBE, DOUBLE)
    for one in (old, new):
        one.exercised |= {CUBE, DOUBLE}
    tested = group(old, new)
    targets = {ONE: base or Target(), TWO: head or Target()}
    state = SimpleNamespace(
        groups={"planted": tested},
        base=(ONE,),
        config=config or Config(),
        budget=Budget(60.0),
        collector=Collector(
            *(bucket(one, fingerprint=f"v1:{n}") for n, one in enumerate(findings))
        ),
        documentation=[],
        dispatcher=SimpleNamespace(tasks=targets.__getitem__),
    )
    return cast("CampaignState", state)


def announced_by(state: CampaignState) -> dict[str, str]:
    list(announce(state))
    return cast("Collector", state.collector).announced


VALUES = replace(difference(), targets=(ONE, TWO))
REFUSED = replace(
    VALUES, kind="refused", outcomes={ONE: Passed(b"", 0.0), TWO: Rejected("ValueError", "no")}
)


def test_a_difference_whose_docstring_changed_is_announced() -> None:
    state = state_of(
        VALUES,
        base=Target({CUBE: "Cubes."}),
        head=Target({CUBE: "Cubes. Results are rounded."}),
    )

    assert announced_by(state) == {"v1:0": "the documentation now also says “Results are rounded”"}


def test_the_docstring_of_an_api_with_the_same_operator_announces_it() -> None:
    state = state_of(
        VALUES,
        base=Target({DOUBLE: "Doubles."}),
        head=Target({DOUBLE: "Doubles. Results are rounded."}),
    )
    assert announced_by(state) == {}
    for one in state.groups["planted"].members.values():
        shared = {api: replace(record(api), operator="Pow") for api in (CUBE, DOUBLE)}
        one.catalogue = {**one.catalogue, **shared}

    assert "planted.double" in announced_by(state)["v1:0"]


def test_findings_of_other_targets_are_left_alone() -> None:
    findings = replace(VALUES, targets=(TWO, ONE)), replace(VALUES, oracle="crash", targets=(TWO,))
    base, head = Target({CUBE: "Cubes."}), Target({CUBE: "Rounds results."})

    assert announced_by(state_of(*findings, base=base, head=head)) == {}


def test_a_refused_call_runs_on_the_base_for_its_warnings() -> None:
    base = Target(warned=["cube is deprecated"])

    assert announced_by(state_of(REFUSED, base=base)) == {
        "v1:0": "the base warns that this is deprecated: “cube is deprecated”"
    }
    assert announced_by(state_of(VALUES, base=base)) == {}
    assert base.calls == 1


def test_few_calls_run_for_their_warnings() -> None:
    base = Target()

    announced_by(state_of(*[REFUSED] * 30, base=base))

    assert base.calls == 20


def test_documentation_of_removed_and_unchanged_apis_is_reported() -> None:
    state = state_of(
        VALUES,
        base=Target({DOUBLE: "Doubles."}),
        head=Target({CUBE: "Now faster.", DOUBLE: "Doubles. Now faster."}),
    )

    events = list(announce(state))

    (checked,) = (event for event in events if isinstance(event, DocumentationChecked))
    assert [(found.check, found.api) for found in checked.findings] == [
        (DocumentationCheck.REMOVED, GONE),
        (DocumentationCheck.CHANGED_ALONE, DOUBLE),
    ]
    assert state.documentation == list(checked.findings)
    assert isinstance(events[-1], StageFinished)


def test_documentation_is_not_reported_if_the_policy_turns_it_off() -> None:
    config = Config(rules=(PolicyRule("documentation", Action.OFF),))

    events = list(announce(state_of(config=config)))

    assert [type(event) for event in events] == [StageFinished]


def test_a_target_that_is_gone_is_a_warning() -> None:
    (warned, _) = announce(state_of(VALUES, head=Target(is_gone=True)))

    assert warned == Warned(
        message=f"{TWO}: announced changes are not determined: the server is gone"
    )


@pytest.mark.parametrize("base", [(), (ONE, TWO)])
def test_targets_that_are_no_base_and_head_are_not_compared(base: tuple[str, ...]) -> None:
    state = state_of(VALUES)
    state.base = base

    assert list(announce(state)) == []
