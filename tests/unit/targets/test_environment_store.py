"""The cache of environments: only what is recorded counts, and pruning keeps what was used last."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ProvisioningError
from ciguard.targets import list_environments, prune_environments
from ciguard.targets.store import CACHE_VARIABLE, EnvironmentSlot, cache_folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def stored(key: str, *, used_s: float = 0.0) -> EnvironmentSlot:
    slot = EnvironmentSlot(key)
    build = slot.new_build()
    (build / "python").touch()
    slot.publish({"target": key, "python": str(build / "python"), "build": str(build)})
    os.utime(slot.folder / "environment.json", (used_s, used_s))
    return slot


def test_the_cache_is_where_the_variable_says(cache: Path) -> None:
    assert cache_folder() == cache


def test_a_published_environment_is_found() -> None:
    slot = stored("torch-a")

    record = slot.record()

    assert record is not None
    assert record["target"] == "torch-a"


def test_an_unfinished_build_is_no_environment_and_is_swept_by_the_next() -> None:
    slot = EnvironmentSlot("torch-a")
    leftover = slot.new_build()

    build = slot.new_build()

    assert slot.record() is None
    assert build.is_dir()
    assert not leftover.exists()


def test_a_new_build_leaves_the_present_environment_until_it_is_published() -> None:
    slot = stored("torch-a")
    before = slot.record()

    build = slot.new_build()
    assert slot.record() == before
    slot.publish({"target": "new", "python": str(build), "build": str(build)})

    assert [entry.name for entry in sorted(slot.folder.iterdir())] == [
        build.name,
        "environment.json",
    ]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 0, "python": "/"}'])
def test_an_environment_with_a_damaged_record_is_built_anew(text: str) -> None:
    slot = stored("torch-a")
    (slot.folder / "environment.json").write_text(text, encoding="utf-8")

    assert slot.record() is None


def test_an_environment_that_lost_its_interpreter_is_built_anew() -> None:
    slot = stored("torch-a")
    record = slot.record()
    assert record is not None
    os.unlink(record["python"])  # noqa: PTH108 - a string from the record

    assert slot.record() is None


def test_environments_are_listed_by_last_use_with_their_size() -> None:
    stored("torch-a", used_s=100.0)
    stored("torch-b", used_s=200.0)

    listed = list_environments()

    assert [(each.key, each.last_used_s) for each in listed] == [
        ("torch-b", 200.0),
        ("torch-a", 100.0),
    ]
    assert all(each.size_bytes > 0 and each.is_complete for each in listed)


def test_pruning_keeps_the_last_used_and_removes_what_was_interrupted() -> None:
    for number in range(3):
        stored(f"torch-{number}", used_s=100.0 * number)
    EnvironmentSlot("half").new_build()

    removed = prune_environments(keep=1)

    assert {each.key for each in removed} == {"torch-0", "torch-1", "half"}
    assert [each.key for each in list_environments()] == ["torch-2"]


def test_pruning_leaves_what_another_process_is_building() -> None:
    slot = stored("torch-a")

    with slot.lock():
        removed = prune_environments()

    assert removed == []
    assert slot.record() is not None


def test_a_cache_that_cannot_be_written_is_an_error_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))

    with pytest.raises(ProvisioningError, match=CACHE_VARIABLE):
        EnvironmentSlot("torch-a").new_build()
