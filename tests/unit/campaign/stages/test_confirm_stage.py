"""Confirmation stage: what it waits for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, finding

from ciguard.campaign import budget
from ciguard.campaign.stages import confirm
from ciguard.campaign.stages.confirm import Confirm, ConfirmHangs
from ciguard.config import Config
from ciguard.domain.outcomes import Crashed, Hung
from ciguard.oracles import HANG, Identity, Subject
from ciguard.triage import Confirmer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher, Job, Priority


class Idle:
    """A dispatcher that starts no job, and a loop whose steps take a tenth of a second each."""

    lanes = 2
    is_proven = True
    needed_s = 0.0
    overtime_s = 0.0
    now_s = 100.0

    def add(self, job: Job, priority: Priority) -> None:
        del job, priority

    def clear_queue(self) -> None: ...

    def monotonic(self) -> float:
        return self.now_s

    def step(self, *, is_exploring: bool = False) -> Iterator[Event]:
        assert not is_exploring
        return self.step_running()

    def step_running(self) -> Iterator[Event]:
        self.now_s += 0.1
        return iter(())


def subject_of(finding: Finding) -> Subject:
    identity = Identity(request=ONE, packages=(), version="1", device="cpu")
    return Subject(library="planted", api=finding.api, targets={ONE: identity})


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> Idle:
    made = Idle()
    for module in (budget, confirm):
        monkeypatch.setattr(module, "time", made)
    return made


HANGS = replace(finding(Hung(5.0, ())), oracle=HANG, kind=HANG)
CRASHES = finding(Crashed("SIGSEGV", (), ""))


@pytest.mark.parametrize(
    ("found", "settings", "first_s", "rest_s"),
    [
        ((), {}, 0.0, 0.0),
        ((HANGS,), {}, 0.0, 96.0),
        ((HANGS, CRASHES), {}, 90.0, 6.0),
        ((HANGS,), {"base": (ONE,)}, 90.0, 0.0),
        ((HANGS,), {"max_cases": 10}, 90.0, 0.0),
    ],
    ids=["nothing", "a hang", "a crash", "with a base", "with fixed cases"],
)
def test_later_stages_wait_for_hangs_only_if_they_need_them(
    found: tuple[Finding, ...],
    settings: dict[str, object],
    first_s: float,
    rest_s: float,
    idle: Idle,
) -> None:
    confirmer = Confirmer(cast("Dispatcher", idle), repetitions=3, subject_of=subject_of)
    state = SimpleNamespace(
        budget=budget.Budget(100.0),
        config=replace(Config(out=Path("out")), **settings),  # type: ignore[arg-type]
        confirmer=confirmer,
        dispatcher=idle,
        investigations=SimpleNamespace(is_idle=True, keys=(), abandon=lambda: None),
    )
    for number, one in enumerate(found):
        confirmer.propose(str(number), one)
    stage, loop = Confirm(cast("CampaignState", state)), cast("EventLoop", idle)

    list(stage.run(loop))
    confirmed_s = idle.now_s
    list(ConfirmHangs(stage).run(loop))

    assert confirmed_s - Idle.now_s == pytest.approx(first_s, abs=0.2)
    assert idle.now_s - confirmed_s == pytest.approx(rest_s, abs=0.2)
