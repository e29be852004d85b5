"""The cache of environments: records mark complete builds; pruning keeps recently used ones."""

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


def test_the_cache_folder_comes_from_the_environment_variable(cache: Path) -> None:
    assert cache_folder() == cache


def test_a_published_environment_has_a_record() -> None:
    slot = stored("torch-a")

    record = slot.record()

    assert record is not None
    assert record["target"] == "torch-a"


def test_an_unfinished_build_has_no_record_and_is_removed_by_the_next_build() -> None:
    slot = EnvironmentSlot("torch-a")
    leftover = slot.new_build()

    build = slot.new_build()

    assert slot.record() is None
    assert build.is_dir()
    assert not leftover.exists()


def test_a_new_build_replaces_the_environment_only_when_it_is_published() -> None:
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
def test_an_environment_with_a_damaged_record_must_be_rebuilt(text: str) -> None:
    slot = stored("torch-a")
    (slot.folder / "environment.json").write_text(text, encoding="utf-8")

    assert slot.record() is None


def test_an_environment_without_its_interpreter_must_be_rebuilt() -> None:
    slot = stored("torch-a")
    record = slot.record()
    assert record is not None
    os.unlink(record["python"])  # noqa: PTH108 - a string from the record

    assert slot.record() is None


def test_the_log_says_once_why_an_environment_is_rebuilt(caplog: pytest.LogCaptureFixture) -> None:
    slot = stored("a")
    (slot.folder / "environment.json").write_text("{", "utf-8")

    assert [slot.record(), slot.record()] == [None, None]
    slot.sweep()

    assert caplog.text.count("rebuilding") == 1


def test_environments_are_listed_by_last_use_with_their_size() -> None:
    stored("torch-a", used_s=100.0)
    stored("torch-b", used_s=200.0)

    listed = list_environments()

    assert [(environment.key, environment.last_used_s) for environment in listed] == [
        ("torch-b", 200.0),
        ("torch-a", 100.0),
    ]
    assert all(environment.size_bytes > 0 and environment.is_complete for environment in listed)


def test_pruning_keeps_the_last_used_environment_and_removes_interrupted_builds() -> None:
    for number in range(3):
        stored(f"torch-{number}", used_s=100.0 * number)
    EnvironmentSlot("half").new_build()

    removed = prune_environments(keep=1)

    assert {environment.key for environment in removed} == {"torch-0", "torch-1", "half"}
    assert [environment.key for environment in list_environments()] == ["torch-2"]


def test_pruning_skips_environments_that_another_process_is_building() -> None:
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
