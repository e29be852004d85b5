"""A folder of what can be made again is emptied when it holds too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.execution.worker.quota import prune

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("count", "left"), [(3, 3), (4, 0)])
def test_a_folder_is_emptied_only_above_the_limit(tmp_path: Path, count: int, left: int) -> None:
    for number in range(count):
        tmp_path.joinpath(f"kernel{number}").touch()

    prune(str(tmp_path), 3, 1_000_000)

    assert tmp_path.is_dir()
    assert len(list(tmp_path.iterdir())) == left


def test_a_missing_folder_is_ignored(tmp_path: Path) -> None:
    prune(str(tmp_path / "compiled"), 0, 0)

    assert list(tmp_path.iterdir()) == []


def test_subfolders_are_counted_and_removed(tmp_path: Path) -> None:
    large = tmp_path / "kernels" / "large"
    large.parent.mkdir()
    large.write_bytes(bytes(100_000))

    prune(str(tmp_path), 10, 1_000_000)
    assert large.exists()
    prune(str(tmp_path), 10, 50_000)
    assert list(tmp_path.iterdir()) == []
