"""Removal of folders that hostile code has filled, and of nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.execution.worker import removal
from ciguard.execution.worker.removal import remove_tree

DEPTH = 1500


def nest(folder: Path, depth: int) -> None:
    here = Path.cwd()
    os.chdir(folder)
    for _ in range(depth):
        Path("file").write_text("content")
        Path("nested").mkdir()
        os.chdir("nested")
    os.chdir(here)


def test_a_folder_deeper_than_the_stack_and_the_longest_path_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    nest(folder, DEPTH)

    assert remove_tree(str(folder))
    assert not folder.exists()


def test_links_are_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o500)
    (tmp_path / "link").symlink_to(precious)
    folder = tmp_path / "scratch"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "link").symlink_to(precious)
    (folder / "link").symlink_to(precious)
    os.mkfifo(folder / "fifo")

    assert remove_tree(str(folder))
    assert not remove_tree(str(tmp_path / "link"))

    assert precious.stat().st_mode & 0o777 == 0o500
    assert (tmp_path / "link").is_symlink()


def test_folders_without_rights_are_removed(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    (folder / "a" / "b" / "c").mkdir(parents=True)
    for closed in (folder / "a" / "b" / "c", folder / "a" / "b", folder / "a"):
        closed.chmod(0)

    assert remove_tree(str(folder))


def test_removal_stops_in_time_and_never_raises(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    nest(folder, 50)

    assert not remove_tree(str(folder), limit_s=0.0)
    assert remove_tree(str(tmp_path / "absent"))
    assert remove_tree(str(tmp_path / "absent" / "below"))
    assert not remove_tree("/proc/self/task", limit_s=1.0)
    assert removal.REMOVAL_LIMIT_S > 1


@settings(max_examples=20)
@given(st.lists(st.lists(st.sampled_from(["a", "b", ".removed-0"]), max_size=5), max_size=8))
def test_any_tree_is_removed(tmp_path_factory: object, paths: list[list[str]]) -> None:
    folder = tmp_path_factory.mktemp("tree") / "scratch"  # type: ignore[attr-defined]
    folder.mkdir()
    for parts in paths:
        folder.joinpath(*parts).mkdir(parents=True, exist_ok=True)

    assert remove_tree(str(folder))
    assert not folder.exists()
