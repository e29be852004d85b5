from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from campaign_examples import ONE
from part_examples import part, written

from ciguard.campaign import JOURNAL, jobs_of, launch, shard_folder
from ciguard.config import EffectiveSettings, load_config
from ciguard.domain.findings import Verdict
from ciguard.domain.shards import Shard
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path


def settings(folder: Path, **flags: object) -> EffectiveSettings:
    given = {"targets": [ONE], "out": str(folder / "out"), **flags}
    return load_config(given, {}, folder=folder)  # type: ignore[arg-type]  # as click gives them


def test_a_job_carries_all_settings_of_the_campaign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ciguard.toml").write_text("relations = []\nbudget = '7m'\n", "utf-8")
    asked = settings(tmp_path, api=["planted.*", "a.b"], policy=["performance=fail"], seed="3")

    job = jobs_of(asked, 2)[1]

    node = tmp_path / "node"
    node.mkdir()
    (node / "ciguard.toml").write_text(job.toml, "utf-8")
    read = load_config({}, job.variables, folder=node).config
    for name in ("targets", "api", "relations", "budget_s", "seed", "rules", "fail_on"):
        assert getattr(read, name) == getattr(asked.config, name), name
    assert read.baseline == (tmp_path / ".ciguard" / "baseline")
    assert (read.shard, read.resume) == (Shard(), False)
    assert job.shard == Shard(2, 2)


def test_results_of_an_earlier_campaign_are_removed(tmp_path: Path) -> None:
    asked = settings(tmp_path)
    folder = written(shard_folder(asked.config.out, Shard(1, 2)), part())
    (folder / JOURNAL).write_text("{}\n", "utf-8")

    jobs = jobs_of(asked, 2)

    assert [job.shard for job in jobs] == [Shard(1, 2), Shard(2, 2)]
    assert list(folder.iterdir()) == []


def test_complete_shards_do_not_run_again_when_resumed(tmp_path: Path) -> None:
    asked = settings(tmp_path, resume=True)
    interrupted = part(Shard(2, 3), verdict=Verdict.INTERRUPTED)
    written(shard_folder(asked.config.out, Shard(1, 3)), part(Shard(1, 3)))
    written(shard_folder(asked.config.out, Shard(2, 3)), interrupted)

    assert [str(job.shard) for job in jobs_of(asked, 3)] == ["2/3", "3/3"]


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", "utf-8")

    with pytest.raises(OutputError, match="shards: cannot be written"):
        jobs_of(settings(tmp_path), 2)


def test_no_cluster_is_started_without_jobs() -> None:
    assert list(launch([], address="tcp://127.0.0.1:9")) == []
