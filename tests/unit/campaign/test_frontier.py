from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ciguard.campaign.frontier import FRONTIER, Frontier, stream_key
from ciguard.domain.parts import StreamProgress
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from pathlib import Path


def progress(batches: int) -> StreamProgress:
    return StreamProgress(batches=batches, visits=f"visits {batches}", learned="")


def at(batches: int) -> tuple[int, str]:
    return (batches, f"visits {batches}") if batches else (0, "")


def stored(folder: Path, key: str, batches: int, budget_s: float) -> Frontier:
    frontier = Frontier(folder)
    frontier.extend(key, progress(batches), budget_s)
    frontier.save()
    return Frontier(folder)


def test_the_same_budget_stops_where_the_previous_run_stopped(tmp_path: Path) -> None:
    assert stored(tmp_path, "a", 40, 180.0).last("a", 180.0) == at(40)


def test_a_smaller_budget_goes_no_further(tmp_path: Path) -> None:
    assert stored(tmp_path, "a", 40, 180.0).last("a", 60.0) == at(40)


def test_a_longer_budget_may_go_further(tmp_path: Path) -> None:
    assert stored(tmp_path, "a", 40, 180.0).last("a", 181.0) == at(0)


def test_other_streams_have_no_frontier(tmp_path: Path) -> None:
    assert stored(tmp_path, "a", 40, 180.0).last("b", 1.0) == at(0)


def test_a_shorter_run_does_not_change_the_frontier(tmp_path: Path) -> None:
    stored(tmp_path, "a", 40, 180.0)

    assert stored(tmp_path, "a", 39, 600.0).last("a", 181.0) == at(0)
    assert stored(tmp_path, "a", 39, 600.0).last("a", 180.0) == at(40)


def test_a_longer_run_extends_the_frontier(tmp_path: Path) -> None:
    stored(tmp_path, "a", 40, 180.0)

    frontier = stored(tmp_path, "a", 90, 600.0)

    assert (frontier.last("a", 600.0), frontier.last("a", 601.0)) == (at(90), at(0))


def test_the_frontier_of_a_removed_baseline_is_ignored(tmp_path: Path) -> None:
    stored(tmp_path, "a", 40, 180.0)

    assert Frontier(tmp_path, is_first=True).last("a", 180.0) == at(0)


def test_a_stream_is_named_by_everything_that_decides_its_cases() -> None:
    assert stream_key("api", 1, "torch") == stream_key("api", 1, "torch")
    assert (
        len({stream_key("api", 1, "t"), stream_key("api", 2, "t"), stream_key("api", 1, "u")}) == 3
    )
    assert stream_key("a", "bc") != stream_key("ab", "c")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "\x00",
        "[" * 100_000,
        '{"schema": 1}',
        '{"schema": 1, "explored": []}',
        '{"schema": 1, "explored": {"a": 3}}',
        '{"schema": 1, "explored": {"a": [1, 2, 3]}}',
        '{"schema": 1, "explored": {"a": ["x", 1.0]}}',
        '{"schema": 1, "explored": {"a": [-1, 180.0]}}',
        '{"schema": 1, "explored": {"a": [1e999, 180.0]}}',
    ],
)
def test_a_damaged_frontier_is_a_clear_error_and_is_kept(tmp_path: Path, text: str) -> None:
    path = tmp_path / FRONTIER
    path.write_text(text, "utf-8")

    with pytest.raises(BaselineError, match=r"frontier\.json: cannot be read .* remove it"):
        Frontier(tmp_path)

    assert path.read_text("utf-8") == text


def test_a_frontier_of_an_older_version_is_read(tmp_path: Path) -> None:
    text = '{"schema": 1, "explored": {"a": [40, 180.0]}}'
    (tmp_path / FRONTIER).write_text(text, "utf-8")

    assert Frontier(tmp_path).last("a", 180.0) == (40, "")


def test_a_newer_frontier_is_a_clear_error_and_is_kept(tmp_path: Path) -> None:
    text = json.dumps({"schema": 3, "explored": {}})
    (tmp_path / FRONTIER).write_text(text, "utf-8")

    with pytest.raises(BaselineError, match=r"written by a newer ciguard .*Upgrade ciguard"):
        Frontier(tmp_path)

    assert (tmp_path / FRONTIER).read_text("utf-8") == text


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "baseline").write_text("a file", "utf-8")

    with pytest.raises(BaselineError, match="cannot be written"):
        Frontier(tmp_path / "baseline").save()
