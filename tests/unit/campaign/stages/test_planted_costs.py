"""Planted slowdowns and leaks with a fake dispatcher; real workers are in tests/process."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, TWO, call, group, member
from measuring_examples import FAST, SLOW, FakeDispatcher

from ciguard.campaign.stages.planted_costs import PlantedCosts
from ciguard.campaign.stages.suspects import SuspectCall
from ciguard.config import Config
from ciguard.domain.detection import COSTS, DefectKind, PlantedDefect
from ciguard.domain.policy import Action, PolicyRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Job

API = "planted.double"


@dataclass
class Answering(FakeDispatcher):
    """A dispatcher and a loop; planted calls need more time or memory, if `shows`."""

    shows: bool = True
    stage: PlantedCosts | None = None
    fails: str = ""
    """Target that fails after some jobs."""

    def _outcome(self, job: Job, request: bytes) -> Outcome:
        _, case = json.loads(request)
        is_planted = case[1] == "planted"
        assert is_planted is (job.target == TWO)
        self.planted = case[2][0][0] if is_planted and self.shows else ""
        return super()._outcome(job, request)

    def step_running(self) -> Iterator[Event]:
        assert self.stage is not None
        if self.fails and len(self.done) > 3:
            self.stage.give_up(self.fails)
        if self.jobs:
            self.stage.take(self.answer())
        yield from ()


def measured(kind: DefectKind, answering: Answering, **settings: object) -> PlantedCosts:
    """Return what became of a defect."""

    def value(_target: str, quantity: str, _session: int) -> float:
        if quantity == "time":
            return SLOW if answering.planted == DefectKind.SLOWDOWN else FAST
        return 4096.0 if (quantity, answering.planted) == ("growth", DefectKind.LEAK) else 0.0

    answering.value = value
    groups = {"planted": group(member(ONE, API), member(TWO, API))}
    config = Config(**settings)  # type: ignore[arg-type]
    state = SimpleNamespace(config=config, groups=groups, dispatcher=answering)
    costs = answering.stage = PlantedCosts(cast("CampaignState", state))
    suspect = SuspectCall("planted", call("double"), (ONE, TWO), (1e-4, 1e-4))
    costs.add(PlantedDefect(kind, API), suspect)
    until = 0.0 if settings.get("budget_s") == 0 else math.inf
    list(costs.run(cast("EventLoop", answering), until))
    return costs


@pytest.mark.parametrize("kind", sorted(COSTS))
def test_a_cost_that_measurements_show_is_caught(kind: DefectKind) -> None:
    costs = measured(kind, Answering(slow))

    assert (costs.caught, costs.missed) == ([PlantedDefect(kind, API)], [])


@pytest.mark.parametrize("kind", sorted(COSTS))
def test_a_cost_that_measurements_do_not_show_is_missed(kind: DefectKind) -> None:
    unseen = measured(kind, Answering(slow, shows=False))
    ignored = measured(kind, Answering(slow), rules=(PolicyRule("performance", Action.OFF),))

    for costs in (unseen, ignored):
        assert (costs.caught, costs.missed) == ([], [PlantedDefect(kind, API)])


@pytest.mark.parametrize("fails", [ONE, TWO])
def test_a_defect_of_a_failed_target_does_not_count(fails: str) -> None:
    costs = measured(DefectKind.SLOWDOWN, Answering(slow, fails=fails))

    assert (costs.caught, costs.missed) == ([], [])


def test_a_defect_that_was_not_decided_in_time_does_not_count() -> None:
    costs = measured(DefectKind.SLOWDOWN, Answering(slow), budget_s=0)

    assert (costs.caught, costs.missed) == ([], [])


def slow(_target: str, _quantity: str, _session: int) -> float:
    return SLOW
