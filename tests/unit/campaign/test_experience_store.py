from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaign_examples import member

from ciguard.campaign.experience import (
    ExperienceStore,
    Snapshot,
    keep_in_baseline,
    read_run_snapshot,
    run_snapshot_file,
    write_run_snapshot,
)
from ciguard.errors import OutputError
from ciguard.knowledge import Experience
from ciguard.targets import Environment, parse_target

if TYPE_CHECKING:
    from pathlib import Path

MUCH, MORE = {"lib.f": Experience(noted=3)}, {"lib.f": Experience(noted=9)}


def environment(root: Path, target: str = "torch==2.13.0") -> Environment:
    return replace(member().environment, root=root, target=parse_target(target))


def never(digest: str) -> bool:
    del digest
    return False


def test_a_campaign_begins_with_the_latest_snapshot(tmp_path: Path) -> None:
    store = ExperienceStore(environment(tmp_path))
    older = store.save(MUCH)
    for path in tmp_path.iterdir():
        os.utime(path, (1, 1))
    newer = store.save(MORE)

    assert older != newer
    assert store.choose(never) == Snapshot(newer, MORE)


def test_a_repeated_run_of_the_baseline_begins_with_its_snapshot(
    tmp_path: Path,
) -> None:
    store = ExperienceStore(environment(tmp_path))
    older = store.save(MUCH)
    store.save(MORE)

    assert store.choose(lambda digest: digest == older) == Snapshot(older, MUCH)
    assert store.choose(lambda digest: digest == "") == Snapshot()


def test_no_snapshot_is_stored_without_experience_or_for_the_active_environment(
    tmp_path: Path,
) -> None:
    assert ExperienceStore(environment(tmp_path)).save({}) == ""
    active = ExperienceStore(environment(tmp_path, "current[planted]"))

    assert active.save(MUCH) == ""
    assert active.choose(never) == Snapshot()
    assert list(tmp_path.iterdir()) == []


def test_only_the_latest_snapshots_are_kept(tmp_path: Path) -> None:
    store = ExperienceStore(environment(tmp_path))

    for noted in range(1, 12):
        store.save({"lib.f": Experience(noted=noted)})

    assert len(list(tmp_path.glob("experience-*.jsonl"))) == 8


def test_a_damaged_snapshot_is_ignored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ExperienceStore(environment(tmp_path))
    store.save(MUCH)
    (path,) = tmp_path.iterdir()
    path.write_text("{", "ascii")

    assert store.choose(never) == Snapshot()
    assert str(path) in caplog.text


def test_a_cache_that_cannot_be_written_gives_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = ExperienceStore(environment(tmp_path / "missing"))

    store.save(MUCH)

    assert "not stored" in caplog.text


def test_a_resumed_run_begins_with_its_own_snapshot(tmp_path: Path) -> None:
    digest = ExperienceStore(environment(tmp_path)).save(MUCH)
    used = Snapshot(digest, MUCH)

    write_run_snapshot(tmp_path, "planted", used)

    assert read_run_snapshot(tmp_path, "planted", digest).learned == MUCH
    assert read_run_snapshot(tmp_path, "planted", "") == Snapshot()


def test_a_run_whose_snapshot_is_missing_is_not_resumed(tmp_path: Path) -> None:
    write_run_snapshot(tmp_path, "lib", Snapshot("0", MUCH))
    with pytest.raises(OutputError, match="not the run's snapshot"):
        read_run_snapshot(tmp_path, "lib", "another")

    write_run_snapshot(tmp_path, "lib", Snapshot())
    assert not run_snapshot_file(tmp_path, "lib").exists()
    with pytest.raises(OutputError, match="without --resume"):
        read_run_snapshot(tmp_path, "lib", "another")


def test_a_baseline_stores_the_initial_snapshots_of_its_runs(tmp_path: Path) -> None:
    here, there, baseline = (tmp_path / name for name in ("here", "there", "baseline"))
    for folder in (here, there):
        folder.mkdir()
    used = Snapshot(ExperienceStore(environment(here)).save(MUCH), MUCH)
    keep_in_baseline(baseline, environment(here).library.name, used)

    elsewhere = ExperienceStore(environment(there), baseline=baseline)

    assert elsewhere.choose(lambda digest: digest == used.digest) == used
    assert elsewhere.choose(never) == Snapshot()


def test_a_snapshot_with_a_wrong_digest_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = ExperienceStore(environment(tmp_path))
    store.save(MUCH)
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text("ascii").replace('"noted":3', '"noted":4'), "ascii")

    assert store.choose(never) == Snapshot()
    assert "does not match the digest in its name" in caplog.text
