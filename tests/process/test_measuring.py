"""Measuring with real processes: what a planted library costs more is found, and nothing else."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import planted
import pytest
from campaign_examples import ONE, TWO, group, member
from ciguard_planted import adapter as planted_adapter
from surroundings import programs_without

from ciguard.campaign import run
from ciguard.campaign.stages.planted_costs import PlantedCosts
from ciguard.campaign.stages.suspects import SuspectCall
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.detection import COSTS, DefectKind, PlantedDefect
from ciguard.domain.events import RunFinished, StageFinished
from ciguard.domain.findings import Bucket, Comparison, Confirmation
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.domain.values import LiteralValue
from ciguard.execution import (
    Dispatcher,
    Job,
    Limits,
    Measurement,
    ServerProcess,
    WorkerSpec,
    decode_measured,
    growth_request,
    peak_request,
    time_request,
)
from ciguard.oracles import steady_growth
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event

LIGHT, BURDENED = "current[planted]", "current[planted] PLANTED_BURDEN=1"
MIB = 2**20


def spec(name: str, **variables: str) -> WorkerSpec:
    folders = {Path(planted.__file__).parent.parent, Path(planted_adapter.__file__).parent}
    return WorkerSpec(
        name=name,
        python=Path(sys.executable),
        adapter=Path(planted_adapter.__file__),
        readable=(Path(sys.prefix), Path(sys.base_prefix), *folders),
        variables=variables,
        limits=Limits(case_s=5.0, memory_mib=256),
    )


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    with Dispatcher() as running:
        specs = [spec("light"), spec("burdened", PLANTED_BURDEN="1"), spec(ONE), spec(TWO)]
        for server in running.start(specs).values():
            assert isinstance(server, ServerProcess), server
        yield running


class Stepping:
    """An event loop with one stage."""

    is_proven = True
    needed_s = 0.0
    overtime_s = 0.0

    def __init__(self, dispatcher: Dispatcher, stage: PlantedCosts) -> None:
        self._dispatcher = dispatcher
        self._stage = stage

    def step(self, *, is_exploring: bool = False) -> Iterator[Event]:
        del is_exploring
        return self.step_running()

    def step_running(self) -> Iterator[Event]:
        for result in self._dispatcher.wait(1.0):
            self._stage.take(result)
        yield from ()


@pytest.mark.parametrize("kind", sorted(COSTS))
def test_planted_costs_are_caught(dispatcher: Dispatcher, kind: DefectKind) -> None:
    defect = PlantedDefect(kind, "planted.heavy.labour")
    groups = {"planted": group(member(ONE, defect.api), member(TWO, defect.api))}
    state = SimpleNamespace(config=Config(), groups=groups, dispatcher=dispatcher)
    costs = PlantedCosts(cast("CampaignState", state))
    suspect = SuspectCall("planted", call("heavy.labour", 3), (ONE, TWO), (1e-3, 1e-3))
    costs.add(defect, suspect)

    list(costs.run(Stepping(dispatcher, costs), time.monotonic() + 120))

    assert (costs.caught, costs.missed) == ([defect], [])


def call(function: str, *arguments: int) -> ApiCall:
    values = tuple(map(LiteralValue, arguments))
    return ApiCall(api=f"planted.{function}", kind=CallKind.FUNCTION, arguments=values)


def outcomes_of(
    dispatcher: Dispatcher, target: str, *requests: bytes, session: int = 1
) -> tuple[Outcome, ...]:
    dispatcher.add(Job(target, "test", requests, session=session))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for result in dispatcher.wait(1.0):
            return result.outcomes
    pytest.fail("no result within a minute")


def measured(dispatcher: Dispatcher, request: bytes) -> tuple[Measurement, Measurement]:
    found = []
    for target in ("light", "burdened"):
        (outcome,) = outcomes_of(dispatcher, target, request)
        assert isinstance(outcome, Passed), outcome
        found.append(decode_measured(outcome.encoded))
    one, two = found
    assert one is not None
    assert two is not None
    return one, two


def test_time_is_that_of_the_call(dispatcher: Dispatcher) -> None:
    request = time_request(encode(call("heavy.labour", 3)), calls=5, repetitions=9)

    light, burdened = measured(dispatcher, request)

    assert len(light.values) == len(burdened.values) == 9
    # Three times the work: how long that takes is up to what else the machine does.
    assert min(burdened.values) > min(light.values)


def test_time_spent_waiting_is_not_counted(dispatcher: Dispatcher) -> None:
    asked = call("meet")
    asleep = ApiCall(api="time.sleep", kind=asked.kind, arguments=(LiteralValue(0.05),))

    light, _ = measured(dispatcher, time_request(encode(asleep), calls=1, repetitions=2))

    assert max(light.values) < 0.02e9


def test_peak_is_what_the_call_takes_although_it_gives_all_back(dispatcher: Dispatcher) -> None:
    light, burdened = measured(dispatcher, peak_request(encode(call("heavy.swell", 3))))

    assert light.values[0] == pytest.approx(1 * MIB, abs=MIB / 2)
    assert burdened.values[0] == pytest.approx(8 * MIB, abs=MIB / 2)


def test_growth_is_what_every_call_keeps(dispatcher: Dispatcher) -> None:
    request = growth_request(encode(call("heavy.hoard", 3)), calls=64, checkpoints=8)

    light, burdened = measured(dispatcher, request)

    assert steady_growth(light) < 512
    assert steady_growth(burdened) == pytest.approx(4096, rel=0.25)


def test_a_call_that_raises_or_dies_is_told_apart_from_one_that_was_measured(
    dispatcher: Dispatcher,
) -> None:
    requests = [
        time_request(encode(call(name, number)), calls=2, repetitions=1)
        for name, number in (("leak", 0), ("fragile", -1), ("leak", 1))
    ]

    raised, dead, fine = outcomes_of(dispatcher, "light", *requests)

    kinds = [type(outcome).__name__ for outcome in (raised, dead, fine)]
    assert kinds == ["Errored", "Crashed", "Passed"]


def test_a_session_keeps_its_worker_and_ordinary_jobs_never_see_it(dispatcher: Dispatcher) -> None:
    request = time_request(encode(call("heavy.hoard", 1)), calls=1, repetitions=1)
    asked = encode(call("worker_pid"))

    before = outcomes_of(dispatcher, "light", asked, session=0)
    outcomes_of(dispatcher, "light", request, session=7)
    after = outcomes_of(dispatcher, "light", asked, session=0)

    pids = [json.loads(one.encoded) for (one,) in (before, after) if isinstance(one, Passed)]
    assert len(pids) == 2
    assert pids[0] != pids[1]


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Event]]:
    """Run a campaign on the costly functions; all share one baseline."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", str(programs_without("gdb")))  # its traces take seconds each
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))

    def started(*targets: str, **changes: Any) -> list[Event]:
        settings: dict[str, Any] = {
            "targets": targets,
            "api": ("planted.heavy.*",),
            "allow": ("debug",),
            "budget_s": 240.0,
            "max_cases": 320,
            "out": tmp_path / "run",
            "baseline": tmp_path / "baseline",
            **changes,
        }
        return list(run(Config(**settings)))

    return started


def buckets(events: list[Event]) -> list[Bucket]:
    last = events[-1]
    assert isinstance(last, RunFinished)
    return [b for b in last.buckets if b.finding.oracle == "performance"]


def shown(events: list[Event]) -> set[tuple[str, str, Comparison]]:
    return {
        (b.finding.api.rpartition(".")[2], b.finding.kind, b.comparison)
        for b in buckets(events)
        if b.confirmation is Confirmation.CONFIRMED
    }


@pytest.mark.slow
def test_a_burden_is_found_known_the_next_time(
    campaign: Callable[..., list[Event]], tmp_path: Path
) -> None:
    first = campaign(LIGHT, BURDENED)
    again = campaign(LIGHT, BURDENED, max_cases=32)

    assert {("labour", "slower"), ("swell", "more memory"), ("hoard", "leak")} <= {
        (api, kind) for api, kind, _ in shown(first)
    }
    assert all(b.finding.targets == (LIGHT, BURDENED) for b in buckets(first))
    assert {bucket.fingerprint for bucket in buckets(first)} == {
        bucket.fingerprint for bucket in buckets(again)
    }
    found = {api: comparison for api, _, comparison in shown(again)}
    assert found.items() >= {"swell": Comparison.KNOWN, "hoard": Comparison.KNOWN}.items()
    # What the machine does besides can leave too little to tell times apart.
    assert found["labour"] in {Comparison.KNOWN, Comparison.NOT_RUN}
    slow = next(b for b in buckets(first) if b.finding.api.endswith("labour"))
    assert slow.reproduced
    script = (tmp_path / "run" / slow.reproducer).read_text("utf-8")
    assert f"# Expected: {LIGHT}: " in script
    assert "measured: " in script


def test_equal_targets_have_nothing_to_find(campaign: Callable[..., list[Event]]) -> None:
    events = campaign(LIGHT, LIGHT)

    assert shown(events) == set()
    # Workers were started and called: a stage that is left out takes microseconds.
    spent = {e.stage: e.spent_s for e in events if isinstance(e, StageFinished)}
    assert spent["measure"] > 0.05


def test_one_target_is_measured_against_nothing_and_what_is_known_is_not_called_fixed(
    campaign: Callable[..., list[Event]],
) -> None:
    campaign(LIGHT, BURDENED, api=("planted.heavy.hoard",))

    alone = campaign(BURDENED, api=("planted.heavy.hoard",))

    assert {bucket.comparison for bucket in buckets(alone)} == {Comparison.NOT_RUN}
