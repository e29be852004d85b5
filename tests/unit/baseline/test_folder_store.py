from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from baseline_examples import NAMES, record, record_sets
from hypothesis import HealthCheck, given, settings

from ciguard.baseline import FolderStore, Records, merge
from ciguard.domain import Evidence
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from pathlib import Path

ONE = NAMES[1]
HEADER = '{"schema": 1}'


@pytest.fixture
def stored(tmp_path: Path) -> FolderStore:
    store = FolderStore(tmp_path)
    store.save({ONE: record(ONE)})
    return store


def test_there_is_no_baseline_before_one_is_saved(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "deep" / "down")

    assert not store.exists()
    assert store.load() == {}
    assert list(tmp_path.iterdir()) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(record_sets, record_sets)
def test_saving_merges_with_what_is_stored(
    tmp_path_factory: pytest.TempPathFactory, first: Records, second: Records
) -> None:
    store = FolderStore(tmp_path_factory.mktemp("baseline"))

    store.save(first)
    store.save(second)

    assert store.load() == merge(first, second)


def test_the_index_is_sorted_lines_and_the_corpus_one_file_per_bucket(tmp_path: Path) -> None:
    names = (NAMES[2], NAMES[0], NAMES[1])
    FolderStore(tmp_path).save({name: record(name, argument="../../x\n") for name in names})

    header, *lines = (tmp_path / "buckets.jsonl").read_text().splitlines()
    files = sorted(path.name for path in (tmp_path / "corpus").iterdir())

    assert json.loads(header)["schema"] == 1
    assert [json.loads(line)["fingerprint"] for line in lines] == sorted(names)
    assert files == sorted(f"{name.replace(':', '-')}.json" for name in names)


def test_saving_the_same_again_changes_no_byte(stored: FolderStore) -> None:
    before = {path: path.read_bytes() for path in stored.path.rglob("*") if path.is_file()}

    stored.save(stored.load())

    assert {path: path.read_bytes() for path in before} == before


def test_two_lines_of_one_bucket_are_merged(stored: FolderStore) -> None:
    index = stored.path / "buckets.jsonl"
    header, line = index.read_text().splitlines()
    other = json.loads(line) | {"issue": "12"}
    index.write_text("\n".join([header, line, json.dumps(other), ""]))

    assert stored.load() == {ONE: replace(record(ONE), issue="12")}


def _line(stored: FolderStore, **changes: object) -> str:
    line = (stored.path / "buckets.jsonl").read_text().splitlines()[1]
    return json.dumps(json.loads(line) | changes)


DAMAGE = {
    "no header": ("", "line 1: this is not the header"),
    "a list": ("[1]", "line 1: this is not the header"),
    "a newer schema": ('{"schema": 2}', "line 1: written by a newer ciguard (schema 2"),
    "an odd schema": ('{"schema": "x"}', "line 1: schema 'x' is not a number"),
    "half a line": (f'{HEADER}\n{{"finger', "line 2: "),
    "deep nesting": (f"{HEADER}\n{'[' * 100_000}", "line 2: "),
    "no fingerprint": (f"{HEADER}\n{{}}", "line 2: 'fingerprint'"),
    "a path for a name": (f'{HEADER}\n{{"fingerprint": "../../x"}}', "line 2: it names no finger"),
    "an unknown bucket": (f'{HEADER}\n{{"fingerprint": "{NAMES[7]}"}}', "cannot be read"),
}


def test_a_record_of_before_there_was_evidence_is_read(stored: FolderStore) -> None:
    index = stored.path / "buckets.jsonl"
    lines = [json.loads(line) for line in index.read_text().splitlines()]
    for line in lines:
        line.pop("evidence", None)
    before = stored.load()

    index.write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert set(stored.load()) == set(before)
    assert all(r.exhibit.evidence == Evidence() for r in stored.load().values())


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_named_and_left_alone(stored: FolderStore, damage: str) -> None:
    text, says = DAMAGE[damage]
    index = stored.path / "buckets.jsonl"
    index.write_text(text)

    with pytest.raises(BaselineError) as caught:
        stored.load()
    with pytest.raises(BaselineError):
        stored.save({ONE: record(ONE)})

    assert says in str(caught.value)
    assert str(stored.path) in str(caught.value)
    assert index.read_text() == text


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "odd"},
        {"severity": "odd"},
        {"clean_runs": "3"},
        {"clean_runs": True},
        {"targets": "torch"},
        {"aliases": ["x"]},
        {"first_seen": {"time": "yesterday", "commit": "", "versions": {}}},
        {"grouping": [["a"]]},
        {"issue": None},
        {"evidence": "none"},
    ],
)
def test_a_field_of_the_wrong_kind_is_named_with_its_line(
    stored: FolderStore, changes: dict[str, object]
) -> None:
    index = stored.path / "buckets.jsonl"
    index.write_text(f"{HEADER}\n{_line(stored, **changes)}\n")

    with pytest.raises(BaselineError, match=r"buckets.jsonl, line 2: .*Restore it"):
        stored.load()


def test_bytes_that_are_no_text_are_named(stored: FolderStore) -> None:
    (stored.path / "buckets.jsonl").write_bytes(b"\xff\xfe")

    with pytest.raises(BaselineError, match="not UTF-8"):
        stored.load()


def test_a_case_of_another_bucket_is_refused(stored: FolderStore) -> None:
    path = stored.path / "corpus" / f"{ONE.replace(':', '-')}.json"
    path.write_text(path.read_text().replace(ONE, NAMES[2]))

    with pytest.raises(BaselineError, match="holds the case of"):
        stored.load()


def test_a_link_in_the_place_of_a_file_is_not_followed(
    stored: FolderStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = stored.path / "corpus" / f"{ONE.replace(':', '-')}.json"
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "secret"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)

    with pytest.raises(BaselineError, match="cannot be read"):
        stored.load()


def test_a_pipe_in_the_place_of_the_index_is_not_waited_for(stored: FolderStore) -> None:
    index = stored.path / "buckets.jsonl"
    index.unlink()
    os.mkfifo(index)

    with pytest.raises(BaselineError):
        stored.load()
