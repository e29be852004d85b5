from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from baseline_examples import record, sighting

from ciguard.baseline import FolderStore, Sighting
from ciguard.campaign.conclude import Memory
from ciguard.campaign.frontier import Frontier
from ciguard.campaign.standing import standing_of
from ciguard.domain import BaselineStanding, BaselineState
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.baseline import Records

NOW = datetime(2026, 2, 1, tzinfo=UTC)
TORCH = "torch==2.13.0"


def memory(
    folder: Path, *runs: Sighting, records: Records | None = None, is_first: bool = False
) -> Memory:
    frontier = Frontier(folder)
    for run in runs:
        frontier.note(run)
    frontier.save()
    return Memory(
        store=FolderStore(folder),
        records=records or {},
        is_first=is_first,
        frontier=Frontier(folder, is_first=is_first),
    )


def ran(time: str, **versions: str) -> Sighting:
    return Sighting(time=time, versions=tuple(versions.items()))


def standing(held: Memory, versions: Mapping[str, str]) -> BaselineStanding:
    return standing_of(held, versions, NOW)


def test_a_baseline_that_does_not_exist_is_missing(tmp_path: Path) -> None:
    held = memory(tmp_path, ran("2026-01-31T00:00:00Z", torch="2.13.0"), is_first=True)

    assert standing(held, {"torch": "2.13.0"}) == BaselineStanding(state=BaselineState.MISSING)


def test_one_of_the_last_two_weeks_with_the_same_versions_is_fresh(tmp_path: Path) -> None:
    held = memory(tmp_path, ran("2026-01-18T00:00:00Z", torch="2.13.0", jax="0.10.2"))

    assert standing(held, {"torch": "2.13.0"}) == BaselineStanding(
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
def test_an_older_one_or_one_of_another_version_is_stale(
    time: str, version: str, reason: str, tmp_path: Path
) -> None:
    held = memory(tmp_path, ran(time, current=version))

    found = standing(held, {"current": "2.13.0"})

    assert (found.state, found.reasons) == (BaselineState.STALE, (reason,))


def test_a_target_that_never_ran_makes_it_stale(tmp_path: Path) -> None:
    held = memory(tmp_path, ran("2026-01-31T00:00:00Z", torch="2.13.0"))

    found = standing(held, {"torch": "2.13.0", "jax": "0.10.2"})

    assert (found.state, found.reasons) == (BaselineState.STALE, ("it was never run on jax",))


def test_the_latest_of_several_runs_counts(tmp_path: Path) -> None:
    late, early = ran("2026-01-31T00:00:00Z", t="2"), ran("2025-01-31T00:00:00Z", t="1")

    assert standing(memory(tmp_path, late, early), {"t": "2"}).state is BaselineState.FRESH


def test_what_an_older_ciguard_has_written_is_told_from_its_records(tmp_path: Path) -> None:
    one = record("v1:0123456789abcdef")
    seen = one.last_seen

    found = standing_of(
        memory(tmp_path, records={one.fingerprint: one}),
        dict(seen.versions) or {TORCH: "2.13.0"},
        datetime.strptime(seen.time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC),
    )

    assert found.updated_at == (seen.time if seen.versions else "")
    assert sighting(1).time <= seen.time


def test_an_empty_baseline_that_says_nothing_of_its_runs_is_stale(tmp_path: Path) -> None:
    found = standing(memory(tmp_path), {TORCH: "2.13.0"})

    assert (found.state, found.updated_at) == (BaselineState.STALE, "")


def test_a_time_that_no_ciguard_wrote_is_refused(tmp_path: Path) -> None:
    (tmp_path / "frontier.json").write_text(
        '{"schema": 1, "explored": {}, "ran": {"t": ["yesterday", "1"]}}', "utf-8"
    )

    with pytest.raises(BaselineError, match="not readable"):
        Frontier(tmp_path)
