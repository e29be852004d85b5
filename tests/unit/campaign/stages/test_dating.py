"""Since which release: what is bisected by a run, and when that ends."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from baseline_examples import NAMES, record

from ciguard.baseline import bucket_of
from ciguard.campaign.bisect import Bisection
from ciguard.campaign.budget import Budget
from ciguard.campaign.planned import is_batch
from ciguard.campaign.stages import dating
from ciguard.campaign.stages.dating import dated, is_dated
from ciguard.config import Config
from ciguard.domain.findings import Bucket, Comparison, PairKind
from ciguard.domain.onset import Onset
from ciguard.domain.plan import Plan, PlanMode
from ciguard.errors import ProvisioningError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOUND = Bisection(first_bad="2.1", last_good="1.2", between=["1.3", "2.0"])


def bucket(name: str = NAMES[1], *targets: str, pair: PairKind = PairKind.NONE) -> Bucket:
    known = bucket_of(record(name), Comparison.NEW)
    finding = replace(known.finding, targets=targets or ("torch==2.13.0",), pair=pair)
    return replace(known, finding=finding)


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(dating, "_MIN_FREE_BYTES", 0)
    monkeypatch.setattr(dating, "_MIN_S", 0.05)


def bisecting(monkeypatch: pytest.MonkeyPatch, bisect: Callable[[Bucket], Bisection]) -> None:
    monkeypatch.setattr(dating, "bisect", lambda bucket, _: bisect(bucket))


def within(limit_s: float, *buckets: Bucket) -> list[tuple[str, Onset]]:
    until = time.monotonic() + limit_s
    return [(bucket.fingerprint, onset) for bucket, onset in dated(buckets, Config(), until=until)]


def test_buckets_are_dated_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    bisecting(monkeypatch, lambda _: FOUND)

    found = within(60, bucket(NAMES[2]), bucket(NAMES[1]))

    onset = Onset(first_bad="2.1", last_good="1.2", between=("1.3", "2.0"))
    assert found == [(NAMES[2], onset), (NAMES[1], onset)]


def test_an_endless_installation_is_stopped_when_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []

    def slow(bucket: Bucket) -> Bisection:
        begun.append(bucket.fingerprint)
        if bucket.fingerprint == NAMES[2]:
            try:
                time.sleep(30)
            except Exception:  # noqa: BLE001 - what a careless caller on the way would do
                pytest.fail("the end of the time was taken for an error")
        return FOUND

    bisecting(monkeypatch, slow)
    began = time.monotonic()

    found = within(0.5, bucket(NAMES[1]), bucket(NAMES[2]), bucket(NAMES[3]))

    assert time.monotonic() - began < 10
    assert [name for name, _ in found] == [NAMES[1]]
    assert begun == [NAMES[1], NAMES[2]]


def test_a_failed_bisection_does_not_affect_other_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(bucket: Bucket) -> Bisection:
        if bucket.fingerprint == NAMES[1]:
            raise ProvisioningError("no network")  # noqa: EM101, TRY003
        return FOUND

    bisecting(monkeypatch, failing)

    assert [name for name, _ in within(60, bucket(NAMES[1]), bucket(NAMES[2]))] == [NAMES[2]]


def test_nothing_is_bisected_without_time_or_disk_space(monkeypatch: pytest.MonkeyPatch) -> None:
    bisecting(monkeypatch, lambda _: FOUND)

    assert within(0.01, bucket()) == []
    monkeypatch.setattr(dating, "_MIN_FREE_BYTES", 1 << 80)
    assert within(60, bucket()) == []


def test_nothing_is_bisected_outside_the_main_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    bisecting(monkeypatch, lambda _: FOUND)
    found: list[list[tuple[str, Onset]]] = []

    thread = threading.Thread(target=lambda: found.append(within(60, bucket())))
    thread.start()
    thread.join()

    assert found == [[]]


@pytest.mark.parametrize(
    ("targets", "pair", "expected"),
    [
        (("torch==2.13.0",), PairKind.NONE, True),
        (("torch==2.12.0", "torch==2.13.0"), PairKind.VERSION, True),
        (("torch==2.13.0", "torch==2.13.0 #2"), PairKind.SAME, False),
        (("torch==2.13.0", "tensorflow-cpu==2.21.0"), PairKind.LIBRARY, False),
        (("torch==2.13.0@cuda",), PairKind.NONE, False),
        (("current[torch]",), PairKind.NONE, False),
    ],
)
def test_only_defects_of_released_libraries_are_bisected(
    targets: tuple[str, ...], pair: PairKind, *, expected: bool
) -> None:
    assert is_dated(bucket(NAMES[1], *targets, pair=pair)) is expected


def test_dating_takes_at_most_half_of_the_remaining_time() -> None:
    budget = Budget(1_000.0, spent_s=770.0)

    assert budget.date_until - time.monotonic() == pytest.approx(102.5, abs=1.0)
    assert Budget(1_000.0, spent_s=960.0).date_until < time.monotonic()


@pytest.mark.parametrize(
    ("mode", "settings", "expected"),
    [
        (PlanMode.BATCH, {}, True),
        (PlanMode.PULL_REQUEST, {}, False),
        (None, {}, False),
        (PlanMode.BATCH, {"compare_only": True}, False),
        (PlanMode.BATCH, {"base": ("torch==2.12.0",)}, False),
    ],
)
def test_a_run_for_a_pull_request_is_not_a_batch_run(
    mode: PlanMode | None, settings: dict[str, object], *, expected: bool
) -> None:
    plan = None if mode is None else Plan(mode=mode)

    assert is_batch(plan, replace(Config(), **settings)) is expected  # type: ignore[arg-type]
