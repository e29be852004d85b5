"""Whole campaigns on the planted library, through the door of the room."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from surroundings import programs_without

from ciguard.campaign import JOURNAL, minimise, run
from ciguard.campaign.reruns import Reruns
from ciguard.cli import main
from ciguard.config import Config
from ciguard.domain.api_calls import as_call
from ciguard.domain.events import (
    BatchFinished,
    BucketOpened,
    Event,
    Provisioning,
    RunFinished,
    RunStarted,
    TargetReady,
    TargetUnavailable,
    Warned,
)
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Verdict
from ciguard.domain.shards import Shard
from ciguard.domain.values import LiteralValue

ONE, TWO = "current[planted]", "current[planted] PLANTED_VERSION=2.0"
CASES = 640
QUICK = ("planted.double", "planted.checked", "planted.fragile", "planted.leak", "planted.cube")
"""APIs that do not hang: each hang costs its limit, twice and three times again to confirm."""
EASY = {
    ("planted.checked", "crash"),
    ("planted.divide", "crash"),
    ("planted.fragile", "crash"),
    ("planted.leak", "internal-error"),
}

Campaign = Callable[..., list[Event]]


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """Run a campaign in the environment of these tests; all share one baseline."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", str(programs_without("gdb")))  # its traces take seconds each
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))

    def started(**changes: Any) -> list[Event]:
        return list(start(tmp_path, **changes))

    return started


def start(folder: Path, **changes: Any) -> Iterator[Event]:
    settings: dict[str, Any] = {
        "targets": (ONE, TWO),
        "budget_s": 60.0,
        "max_cases": CASES,
        "out": folder / "run",
        "baseline": folder / "baseline",
        **changes,
    }
    return run(Config(**settings))


def end(events: list[Event]) -> RunFinished:
    last = events[-1]
    assert isinstance(last, RunFinished)
    return last


def fingerprints(events: list[Event]) -> set[str]:
    return {b.fingerprint for b in end(events).buckets}


def met(events: list[Event]) -> set[tuple[str, str]]:
    confirmed = [b for b in end(events).buckets if b.confirmation is Confirmation.CONFIRMED]
    return {(b.finding.api, b.finding.oracle) for b in confirmed}


def compared(events: list[Event]) -> set[Comparison]:
    return {b.comparison for b in end(events).buckets}


def executed(events: list[Event]) -> list[tuple[str, str, dict[str, int]]]:
    batches = [e for e in events if isinstance(e, BatchFinished)]
    return [(e.target, e.api, dict(e.counts)) for e in batches]


def numbers_of(bucket: Bucket) -> list[object]:
    case = bucket.finding.case
    values = [*case.values]
    return [value.value for value in values if isinstance(value, LiteralValue)]


def shown(buckets: tuple[Bucket, ...]) -> set[tuple[str, object, object]]:
    return {(b.fingerprint, b.finding.case, b.count) for b in buckets}


def counts_of(buckets: tuple[Bucket, ...]) -> dict[str, int]:
    return {b.fingerprint: b.count for b in buckets}


def test_same_seed_gives_same_cases_and_buckets(campaign: Campaign, tmp_path: Path) -> None:
    settings = {"api": QUICK, "jobs": 2, "seed": 3}

    first = campaign(baseline=tmp_path / "one", **settings)
    second = campaign(baseline=tmp_path / "two", **settings)

    assert executed(first) == executed(second)
    assert shown(end(first).buckets) == shown(end(second).buckets)
    assert end(first).verdict is Verdict.ESTABLISHED
    assert len(end(first).buckets) >= 4


@pytest.mark.slow
def test_another_seed_finds_the_same_easy_crashes(campaign: Campaign, tmp_path: Path) -> None:
    api = tuple({name for name, _ in EASY})

    runs = [
        campaign(targets=(ONE,), api=api, seed=seed, baseline=tmp_path / str(seed))
        for seed in (1, 2)
    ]

    assert executed(runs[0]) != executed(runs[1])
    assert met(runs[0]) == met(runs[1]) == EASY


def test_second_run_finds_only_known_buckets(campaign: Campaign) -> None:
    first = campaign(api=QUICK)
    second = campaign(api=QUICK)

    assert (end(first).verdict, end(first).exit_code) == (Verdict.ESTABLISHED, 0)
    assert (end(second).verdict, end(second).exit_code) == (Verdict.CLEAN, 0)
    assert compared(first) == {Comparison.NEW}
    assert compared(second) == {Comparison.KNOWN}
    assert fingerprints(second) == fingerprints(first)


def test_every_new_bucket_has_a_script_that_fails_in_the_same_way(
    campaign: Campaign, tmp_path: Path
) -> None:
    events = campaign(api=QUICK)

    for bucket in end(events).buckets:
        assert bucket.reproduced, bucket
        assert (tmp_path / "run" / bucket.reproducer).is_file()


def test_newer_version_is_compared_with_the_baseline_of_the_older(
    campaign: Campaign, tmp_path: Path
) -> None:
    api = ("planted.fragile", "planted.checked")
    quiet = {"targets": (ONE,), "api": ("planted.double",), "max_cases": 16}
    assert end(campaign(**quiet)).buckets == ()

    events = campaign(targets=(TWO,), api=api, out=tmp_path / "newer")

    assert (end(events).verdict, end(events).exit_code) == (Verdict.NEW_FINDINGS, 1)
    assert met(events) == {("planted.fragile", "crash"), ("planted.checked", "crash")}
    assert compared(events) == {Comparison.NEW}


def test_defect_of_the_older_version_is_not_new_on_the_newer(campaign: Campaign) -> None:
    api = ("planted.fragile", "planted.checked")
    older = campaign(targets=(ONE,), api=api)

    newer = campaign(targets=(TWO,), api=api)

    assert fingerprints(newer) == fingerprints(older)
    assert compared(newer) == {Comparison.KNOWN}
    assert end(newer).exit_code == 0


def test_same_version_twice_shows_no_difference_despite_random_calls(
    campaign: Campaign,
) -> None:
    events = campaign(
        targets=(ONE, ONE), api=("planted.noise", *QUICK), max_cases=960, exclude=("*.leak",)
    )

    oracles = {b.finding.oracle for b in end(events).buckets}
    assert oracles == {"crash"}
    assert {name for name, api, _ in executed(events) if api == "planted.noise"} == {
        ONE, f"{ONE} #2",
    }  # fmt: skip


def test_differing_versions_are_reported_by_their_results(campaign: Campaign) -> None:
    events = campaign(api=("planted.cube", "planted.tail"))

    kinds = {(b.finding.api, b.finding.kind) for b in end(events).buckets}
    assert kinds >= {("planted.cube", "values"), ("planted.tail", "refused")}


def test_only_differences_beyond_rounding_are_reported(
    campaign: Campaign,
) -> None:
    events = campaign(
        api=("planted.versions.*",), allow=("debug",), relations=(), max_cases=4 * CASES
    )

    kinds = {(b.finding.api.rpartition(".")[2], b.finding.kind) for b in end(events).buckets}
    assert kinds >= {
        ("blunt", "values"),
        ("cleaned", "nan"),
        ("emptied", "mutation"),
        ("handed", "aliasing"),
    }
    assert "steep" not in dict(kinds)


def server_of(target: str) -> int:
    """Return the fork server of a target: a child of ours whose environment is the target's."""
    marks = {ONE: False, TWO: True}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text("utf-8").rpartition(")")[2].split()[1])
            environ = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        is_server = parent == os.getpid() and b"bootstrap.py" in command
        if is_server and (b"PLANTED_VERSION=2.0" in environ) is marks[target]:
            return int(folder.name)
    pytest.fail(f"no server of {target}")


@pytest.mark.usefixtures("campaign")
def test_a_target_whose_server_is_killed_is_not_run(tmp_path: Path) -> None:
    events: list[Event] = []
    for event in start(tmp_path, api=("planted.double", "planted.fragile"), max_cases=8_000):
        events.append(event)
        if len(events) == 40:
            os.killpg(server_of(TWO), signal.SIGKILL)

    (lost,) = [e for e in events if isinstance(e, TargetUnavailable)]
    assert lost.target == TWO
    assert "its fork server exited" in lost.reason
    assert (end(events).verdict, end(events).exit_code) == (Verdict.NOT_RUN, 3)
    assert not (tmp_path / "baseline").exists()


@pytest.mark.usefixtures("campaign")
def test_run_without_remaining_targets_ends_at_once(tmp_path: Path) -> None:
    began = time.monotonic()
    events: list[Event] = []
    for event in start(tmp_path, targets=(ONE,), api=("planted.double",), max_cases=0):
        events.append(event)
        if len(events) == 40:
            os.killpg(server_of(ONE), signal.SIGKILL)

    assert end(events).verdict is Verdict.NOT_RUN
    assert time.monotonic() - began < 20


@pytest.mark.usefixtures("campaign")
def test_target_that_crashes_during_the_replay_ends_it(campaign: Campaign, tmp_path: Path) -> None:
    campaign(api=QUICK)
    began = time.monotonic()
    events: list[Event] = []
    for event in start(tmp_path, api=QUICK, budget_s=120.0):
        events.append(event)
        if isinstance(event, TargetReady) and event.target.name == TWO:
            os.killpg(server_of(TWO), signal.SIGKILL)

    assert end(events).verdict is Verdict.NOT_RUN
    assert time.monotonic() - began < 45


@pytest.mark.parametrize("api", ["planted.spin", "planted.divide"])
def test_budget_is_kept_for_any_behaviour_of_workers(campaign: Campaign, api: str) -> None:
    began = time.monotonic()

    events = campaign(api=(api,), budget_s=8.0, case_limit_s=1.0, max_cases=0)

    spent_s = time.monotonic() - began
    assert spent_s < 8.0 + 4.0
    assert {api for _, api, _ in executed(events)} == {api}
    assert isinstance(events[0], RunStarted)


def test_hang_is_found_although_slow_calls_are_parked(campaign: Campaign) -> None:
    settings = {"targets": (ONE,), "api": ("planted.spin", "planted.double"), "case_limit_s": 1.0}

    events = campaign(**settings, budget_s=45.0, max_cases=0)

    assert met(events) == {("planted.spin", "hang")}
    (bucket,) = end(events).buckets
    assert "does not return within" in bucket.finding.message
    passed = [counts["passed"] for _, api, counts in executed(events) if api == "planted.double"]
    assert sum(passed) > 1000


def test_campaign_ends_early_if_all_calls_are_quarantined(campaign: Campaign) -> None:
    began = time.monotonic()

    events = campaign(targets=(ONE,), api=("planted.divide",), budget_s=90.0, max_cases=0)

    assert met(events) == {("planted.divide", "crash")}
    assert time.monotonic() - began < 45


def test_new_bucket_has_a_minimised_case(campaign: Campaign) -> None:
    events = campaign(targets=(ONE,), api=("planted.fragile", "planted.divide", "planted.leak"))

    assert {b.finding.api: numbers_of(b) for b in end(events).buckets} == {
        "planted.fragile": [-1],
        "planted.divide": [0, 0],
        "planted.leak": [0],
    }
    assert [b.reproduced for b in end(events).buckets] == [True, True, True]


@pytest.mark.usefixtures("campaign")
def test_minimise_reduces_a_large_case(campaign: Campaign) -> None:
    (bucket,) = end(campaign(targets=(ONE,), api=("planted.fragile",))).buckets
    case = replace(as_call(bucket.finding.case), arguments=(LiteralValue(-7000),))
    large = replace(bucket, finding=replace(bucket.finding, case=case))
    fixed = replace(
        large, finding=replace(large.finding, case=replace(case, arguments=(LiteralValue(1),)))
    )

    found = minimise(large, Config(targets=(ONE,), budget_s=30.0))

    assert found is not None
    assert found.bucket.finding.case.values == (LiteralValue(-1),)
    assert "planted.fragile(-1)" in found.script
    assert minimise(fixed, Config(targets=(ONE,))) is None


def test_accepted_bucket_does_not_fail_a_run(
    campaign: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign(api=("planted.leak",))
    (known,) = end(campaign(api=QUICK[:1])).buckets
    places = ["--out", str(tmp_path / "run"), "--baseline", str(tmp_path / "baseline")]

    refused = main(["accept", known.fingerprint, "--because", " ", *places])
    done = main(["accept", known.fingerprint, "--because", "documented", *places])

    assert (refused, done) == (2, 0)
    assert "the reason is empty" in capsys.readouterr().err
    assert compared(campaign(api=("planted.leak",))) == {Comparison.ACCEPTED}


def test_hang_is_confirmed_for_its_case(campaign: Campaign) -> None:
    events = campaign(targets=(ONE,), api=("planted.spin",), max_cases=320, case_limit_s=0.5)

    (bucket,) = end(events).buckets
    assert (bucket.finding.oracle, bucket.confirmation) == ("hang", Confirmation.CONFIRMED)
    assert bucket.reproduced


@pytest.mark.usefixtures("campaign")
@pytest.mark.parametrize(
    "after", [25, *(pytest.param(n, marks=pytest.mark.slow) for n in (12, 60))]
)
def test_resumed_campaign_finds_the_same_buckets(tmp_path: Path, after: int) -> None:
    settings = {"api": QUICK, "max_cases": CASES}
    whole = list(start(tmp_path, out=tmp_path / "whole", baseline=tmp_path / "other", **settings))

    first: list[Event] = []
    cut = start(tmp_path, **settings)
    for event in cut:
        first.append(event)
        if len(first) == after:
            first.append(cut.throw(KeyboardInterrupt()))  # type: ignore[attr-defined]  # a generator
    rest = list(start(tmp_path, resume=True))

    assert (end(first).verdict, end(first).exit_code) == (Verdict.INTERRUPTED, 130)
    assert end(rest).verdict is Verdict.ESTABLISHED
    assert shown(end(rest).buckets) == shown(end(whole).buckets)
    assert [t.tally.as_dict() for t in end(rest).targets] == [
        t.tally.as_dict() for t in end(whole).targets
    ]
    assert (tmp_path / "run" / JOURNAL).is_file()


@pytest.mark.parametrize("awaited", [TargetReady, BatchFinished])
def test_lost_target_does_not_pass_and_is_repeated_on_resume(
    campaign: Campaign, tmp_path: Path, awaited: type[Event]
) -> None:
    whole = campaign(api=QUICK, out=tmp_path / "whole", baseline=tmp_path / "other")

    lost: list[Event] = []
    for event in start(tmp_path, api=QUICK):
        lost.append(event)
        if isinstance(event, awaited) and sum(isinstance(e, awaited) for e in lost) == 2:
            os.killpg(server_of(TWO), signal.SIGKILL)
    rest = list(start(tmp_path, resume=True))

    assert any(isinstance(event, TargetUnavailable) for event in lost)
    assert (end(lost).verdict, end(lost).exit_code) == (Verdict.NOT_RUN, 3)
    assert end(rest).verdict is Verdict.ESTABLISHED
    # Another case may represent a bucket whose first case the lost target did not confirm.
    assert counts_of(end(rest).buckets) == counts_of(end(whole).buckets)
    assert [t.tally.as_dict() for t in end(rest).targets] == [
        t.tally.as_dict() for t in end(whole).targets
    ]


def test_target_without_executed_cases_does_not_pass(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(api=QUICK)
    monkeypatch.setattr("signal.SIGCONT", 0)  # as if it were stopped again and again

    events: list[Event] = []
    for event in start(tmp_path, api=QUICK, budget_s=6.0):
        events.append(event)
        if isinstance(event, TargetReady) and event.target.name == TWO:
            os.killpg(server_of(TWO), signal.SIGSTOP)

    assert (end(events).verdict, end(events).exit_code) == (Verdict.NOT_RUN, 3)
    (stopped,) = (t for t in end(events).targets if t.name == TWO)
    assert "was executed in time" in stopped.not_run


def test_run_killed_before_its_first_journal_line_is_restarted(
    campaign: Campaign, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / JOURNAL).touch()

    events = campaign(api=QUICK[:1], resume=True)

    assert end(events).verdict is Verdict.ESTABLISHED
    assert any("starting from the beginning" in e.message for e in events if isinstance(e, Warned))


def test_bucket_is_opened_only_once(campaign: Campaign) -> None:
    events = campaign(api=QUICK)

    opened = [e.bucket.fingerprint for e in events if isinstance(e, BucketOpened)]
    assert len(opened) == len(set(opened))


def test_unchecked_documented_choice_is_reported_without_failing(
    campaign: Campaign, tmp_path: Path
) -> None:
    settings = {"targets": (ONE,), "api": ("planted.total",), "allow": ("debug",)}

    campaign(**{**settings, "api": ("planted.double",)})
    events = campaign(**settings, out=tmp_path / "second")

    (bucket,) = (b for b in end(events).buckets if b.finding.oracle == "boundary")
    assert bucket.confirmation is Confirmation.CONFIRMED
    assert bucket.finding.detail == "how: member"
    assert "the signature says one of 'sum', 'mean'" in bucket.finding.message
    assert bucket.reproduced
    assert end(events).exit_code == 0
    script = (tmp_path / "second" / bucket.reproducer).read_text("utf-8")
    assert "ACCEPTED: an argument that the documentation forbids (how: member)" in script


def test_call_that_forges_later_passes_hides_no_defect(campaign: Campaign) -> None:
    events = campaign(
        targets=(ONE,),
        api=("planted.hostile.pretend", "planted.fragile", "planted.leak"),
        allow=("debug",),
        max_cases=200,
    )

    assert {
        ("planted.fragile", "crash"),
        ("planted.leak", "internal-error"),
        ("planted.hostile.pretend", "crash"),
    } <= met(events)
    assert any(isinstance(e, Warned) and "not proven trustworthy" in e.message for e in events)


def test_forged_passes_fail_the_verdict(campaign: Campaign, tmp_path: Path) -> None:
    quiet = {"targets": (ONE,), "allow": ("debug",)}
    campaign(**quiet, api=("planted.double",), max_cases=16)

    events = campaign(
        **quiet,
        api=("planted.hostile.pretend", "planted.fragile"),
        max_cases=200,
        out=tmp_path / "forged",
    )

    assert (end(events).verdict, end(events).exit_code) == (Verdict.NEW_FINDINGS, 1)
    assert ("planted.fragile", "crash") in met(events)
    messages = [e.message for e in events if isinstance(e, Warned)]
    assert sum("a worker was not proven trustworthy" in message for message in messages) == 1
    assert sum("were invalidated in total" in message for message in messages) == 1


def test_forged_passes_without_time_to_repeat_do_not_pass(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = {"targets": (ONE,), "allow": ("debug",)}
    campaign(**quiet, api=("planted.double",), max_cases=16)
    monkeypatch.setattr(Reruns, "take", lambda *_: iter(()))

    events = campaign(
        **quiet,
        api=("planted.hostile.pretend", "planted.fragile"),
        max_cases=100,
        budget_s=12.0,
        out=tmp_path / "forged",
    )

    assert (end(events).verdict, end(events).exit_code) == (Verdict.NOT_RUN, 3)
    (target,) = end(events).targets
    assert "are invalid" in target.not_run


def test_budget_used_up_by_starting_targets_does_not_pass(campaign: Campaign) -> None:
    events = campaign(api=QUICK, budget_s=0.001)

    assert (end(events).verdict, end(events).exit_code) == (Verdict.NOT_RUN, 3)
    reasons = {target.not_run for target in end(events).targets}
    assert len(reasons) == 1
    assert "of the budget of 0.001 s nothing was left for cases. Raise --budget" in reasons.pop()


def test_environment_of_several_targets_is_inspected_once(campaign: Campaign) -> None:
    several = tuple(f"{ONE} PLANTED_NUMBER={number}" for number in range(3))

    events = campaign(targets=several, api=QUICK, max_cases=16)

    steps = [event.step for event in events if isinstance(event, Provisioning)]
    assert sum("inspecting" in step for step in steps) == 1
    assert all(target.tally.total for target in end(events).targets)


def test_planted_defects_are_noticed_and_enter_no_bucket(campaign: Campaign) -> None:
    settings = {"api": ("planted.double", "planted.cube", "planted.tail"), "budget_s": 20.0}
    settings |= {"max_cases": 0, "seed": 1}

    events = campaign(**settings)

    detection = end(events).detection
    assert detection is not None
    assert detection.caught
    assert not detection.uncalled
    assert fingerprints(events) == fingerprints(campaign(**settings, detection=False))


def test_run_that_notices_too_few_planted_defects_does_not_pass(
    campaign: Campaign, tmp_path: Path
) -> None:
    one_target = {"targets": (ONE,), "api": ("planted.double", "planted.cube"), "relations": ()}
    timed = {"budget_s": 20.0, "max_cases": 0}
    campaign(**one_target)  # the baseline
    baseline = (tmp_path / "baseline" / "buckets.jsonl").read_bytes()

    events = campaign(**one_target, **timed, min_detection=100)

    assert end(events).verdict is Verdict.NOT_RUN
    assert "min-detection" in end(events).summary
    assert (tmp_path / "baseline" / "buckets.jsonl").read_bytes() == baseline


def test_shard_plants_defects_into_its_own_apis(campaign: Campaign) -> None:
    events = campaign(
        api=("planted.double", "planted.cube"), budget_s=12.0, max_cases=0, shard=Shard(2, 2)
    )

    (part,) = end(events).parts
    assert part.detection is not None
    assert not part.detection.uncalled
    assert {defect.api for defect in part.detection.caught} <= {"planted.double"}
