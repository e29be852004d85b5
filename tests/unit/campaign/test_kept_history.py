"""Files that are written next to a baseline, and files that are not overwritten."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from baseline_examples import NAMES, record

from ciguard.baseline import Decision, Records, RunSummary, State, read_runs
from ciguard.campaign import PAGE_FILE, PAGE_MARK, Publishing
from ciguard.campaign.history import update_history
from ciguard.domain.findings import Verdict
from ciguard.reports import history_files

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "https://github.com/owner/name/actions/runs/7"
PUBLISHING = Publishing(files=history_files, run_page=PAGE)


def note(day: int) -> RunSummary:
    time = f"2026-01-{day:02}T00:00:00Z"
    return RunSummary(time=time, verdict=Verdict.CLEAN, cases=day, new=0, states=())


def records() -> Records:
    changed = "2026-01-01T00:00:00Z"
    fixed = replace(record(NAMES[1]), decision=Decision(changed=changed, state=State.FIXED))
    return {NAMES[1]: fixed, NAMES[2]: record(NAMES[2])}


def test_each_run_adds_an_entry_and_rewrites_page_and_badge(tmp_path: Path) -> None:
    update_history(tmp_path, note(1), {}, PUBLISHING)
    update_history(tmp_path, note(2), records(), PUBLISHING)

    first, second = read_runs(tmp_path)
    assert first.states == (("open", 0), ("fixed", 0), ("accepted", 0), ("flaky", 0))
    assert second.states == (("open", 1), ("fixed", 1), ("accepted", 0), ("flaky", 0))
    assert {first.page, second.page} == {PAGE}
    assert PAGE_MARK in (tmp_path / PAGE_FILE).read_text()
    assert "1 known defect is open" in (tmp_path / PAGE_FILE).read_text()
    assert "1 open" in (tmp_path / "badge.json").read_text()


def test_without_publishing_only_the_history_is_written(tmp_path: Path) -> None:
    update_history(tmp_path, note(1), {}, None)

    assert [path.name for path in tmp_path.iterdir()] == ["runs.jsonl"]


@pytest.mark.parametrize("content", [b"<p>ours</p>", b"\xff\xfe"])
def test_a_page_of_the_user_is_not_overwritten(tmp_path: Path, content: bytes) -> None:
    (tmp_path / PAGE_FILE).write_bytes(content)

    update_history(tmp_path, note(1), {}, PUBLISHING)

    assert (tmp_path / PAGE_FILE).read_bytes() == content
    assert (tmp_path / "badge.json").exists()


def test_a_link_in_place_of_the_page_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.html"
    outside.write_text(PAGE_MARK)
    folder = tmp_path / "baseline"
    folder.mkdir()
    (folder / PAGE_FILE).symlink_to(outside)

    with pytest.raises(OSError, match="symbolic links"):
        update_history(folder, note(1), {}, PUBLISHING)

    assert outside.read_text() == PAGE_MARK
