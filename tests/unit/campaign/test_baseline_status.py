from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from baseline_examples import record

from ciguard.baseline import Sighting
from ciguard.baseline.store import FolderStore
from ciguard.campaign.baseline_status import baseline_status
from ciguard.campaign.conclude import BaselineSnapshot
from ciguard.campaign.frontier import Frontier
from ciguard.domain.baseline_status import BaselineState, BaselineStatus
from ciguard.domain.findings import TargetSummary
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.baseline import Records

NOW = datetime(2026, 2, 1, tzinfo=UTC)
TORCH = "torch==2.13.0"


def memory(
    folder: Path, *runs: Sighting, records: Records | None = None, is_first: bool = False
) -> BaselineSnapshot:
    frontier = Frontier(folder)
    for run in runs:
        frontier.note(run)
    frontier.save()
    return BaselineSnapshot(
        store=FolderStore(folder),
        records=records or {},
        is_first=is_first,
        frontier=Frontier(folder, is_first=is_first),
    )


def ran(time: str, **versions: str) -> Sighting:
    return Sighting(time=time, versions=tuple(versions.items()))


def target(name: str, version: str, *, not_run: str = "") -> TargetSummary:
    return TargetSummary(
        name=name,
        library="torch",
        version=version,
        python="3.11.7",
        device="cpu",
        packages={},
        confined_by=(),
        apis=1,
        not_run=not_run,
    )


def standing(
    snapshot: BaselineSnapshot,
    versions: Mapping[str, str],
    *,
    base: tuple[str, ...] = (),
    now: datetime = NOW,
) -> BaselineStatus:
    targets = [target(name, version) for name, version in versions.items()]
    return baseline_status(snapshot, targets, base=base, now=now)


def test_a_baseline_that_does_not_exist_is_missing(tmp_path: Path) -> None:
    snapshot = memory(tmp_path, ran("2026-01-31T00:00:00Z", torch="2.13.0"), is_first=True)

    assert standing(snapshot, {"torch": "2.13.0"}) == BaselineStatus(state=BaselineState.MISSING)


def test_a_baseline_of_the_last_two_weeks_with_the_same_versions_is_fresh(tmp_path: Path) -> None:
    snapshot = memory(tmp_path, ran("2026-01-18T00:00:00Z", torch="2.13.0", jax="0.10.2"))

    assert standing(snapshot, {"torch": "2.13.0"}) == BaselineStatus(
        state=BaselineState.FRESH, updated_at="2026-01-18T00:00:00Z"
    )


@pytest.mark.parametrize(
    ("time", "version", "reason"),
    [
        ("2026-01-17T23:00:00Z", "2.13.0", "it was last run on current 14 days ago"),
        (
            "2026-01-31T00:00:00Z",
            "2.12.0",
            "it ran on current in version 2.12.0, this run has 2.13.0",
        ),
    ],
)
def test_a_baseline_that_is_older_or_of_another_version_is_stale(
    time: str, version: str, reason: str, tmp_path: Path
) -> None:
    snapshot = memory(tmp_path, ran(time, current=version))

    status = standing(snapshot, {"current": "2.13.0"})

    assert (status.state, status.reasons) == (BaselineState.STALE, (reason,))


def test_a_target_that_never_ran_makes_the_baseline_stale(tmp_path: Path) -> None:
    snapshot = memory(tmp_path, ran("2026-01-31T00:00:00Z", torch="2.13.0"))

    status = standing(snapshot, {"torch": "2.13.0", "jax": "0.10.2"})

    assert (status.state, status.reasons) == (BaselineState.STALE, ("it was never run on jax",))


def test_the_latest_of_several_runs_counts(tmp_path: Path) -> None:
    late, early = ran("2026-01-31T00:00:00Z", t="2"), ran("2025-01-31T00:00:00Z", t="1")

    assert standing(memory(tmp_path, late, early), {"t": "2"}).state is BaselineState.FRESH


def test_a_baseline_of_an_older_ciguard_is_dated_by_its_records(tmp_path: Path) -> None:
    one = record("v1:0123456789abcdef")
    seen = one.last_seen

    status = standing(
        memory(tmp_path, records={one.fingerprint: one}),
        {TORCH: "2.13.0"},
        now=datetime(2026, 1, 10, tzinfo=UTC),
    )

    assert status == BaselineStatus(state=BaselineState.FRESH, updated_at=seen.time)


def test_only_versions_of_the_base_must_match_the_baseline(tmp_path: Path) -> None:
    snapshot = memory(tmp_path, ran("2026-01-31T00:00:00Z", old="2.12.0"))
    versions = {"old": "2.12.0", "head": "2.13.0"}

    assert standing(snapshot, versions, base=("old",)).state is BaselineState.FRESH
    assert standing(snapshot, versions).state is BaselineState.STALE


def test_a_target_that_did_not_run_does_not_affect_the_status(tmp_path: Path) -> None:
    snapshot = memory(tmp_path, ran("2026-01-31T00:00:00Z", torch="2.13.0"))
    lost = target("torch@cuda", "", not_run="no such device")

    status = baseline_status(snapshot, [target("torch", "2.13.0"), lost], base=(), now=NOW)

    assert status.state is BaselineState.FRESH


def test_an_empty_baseline_without_runs_is_stale(tmp_path: Path) -> None:
    status = standing(memory(tmp_path), {TORCH: "2.13.0"})

    assert (status.state, status.updated_at) == (BaselineState.STALE, "")


def test_a_malformed_time_is_refused(tmp_path: Path) -> None:
    (tmp_path / "frontier.json").write_text(
        '{"schema": 1, "explored": {}, "ran": {"t": ["yesterday", "1"]}}', "utf-8"
    )

    with pytest.raises(BaselineError, match="cannot be read"):
        Frontier(tmp_path)
