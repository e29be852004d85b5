from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from baseline_examples import NAMES, record, record_sets
from hypothesis import HealthCheck, given, settings

from ciguard.baseline import Records, merge
from ciguard.baseline.encoding import case_to_line, record_to_line
from ciguard.baseline.record import RepetitionCounts
from ciguard.baseline.store import FolderStore
from ciguard.domain.case import case_to_json
from ciguard.domain.findings import Evidence
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from pathlib import Path

ONE = NAMES[1]
HEADER = '{"schema": 3, "digits": 0}'


def files(folder: Path) -> list[str]:
    """Return the files of the baseline in a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.json*"))


@pytest.fixture
def stored(tmp_path: Path) -> FolderStore:
    store = FolderStore(tmp_path)
    store.save({ONE: record(ONE)})
    return store


def test_exists_is_false_before_the_first_save(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "deep" / "down")

    assert not store.exists()
    assert store.load() == {}
    assert list(tmp_path.iterdir()) == []


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30
)
@given(record_sets, record_sets)
def test_save_merges_with_the_stored_records(
    tmp_path_factory: pytest.TempPathFactory, first: Records, second: Records
) -> None:
    store = FolderStore(tmp_path_factory.mktemp("baseline"))

    store.save(first)
    store.save(second)

    assert store.load() == merge(first, second)


def test_save_writes_sorted_lines_to_index_and_corpus(tmp_path: Path) -> None:
    names = (NAMES[2], NAMES[0], NAMES[1], "v1:1fffffffffffffff")
    FolderStore(tmp_path).save({name: record(name, argument="../../x\n") for name in names})

    header, *lines = (tmp_path / "buckets.jsonl").read_text().splitlines()
    cases = (tmp_path / "corpus.jsonl").read_text().splitlines()

    assert json.loads(header) == {"schema": 3, "records": "ciguard baseline", "digits": 0}
    assert [json.loads(line)["fingerprint"] for line in lines] == sorted(names)
    assert [json.loads(line)["fingerprint"] for line in cases] == sorted(names)
    assert files(tmp_path) == ["buckets.jsonl", "corpus.jsonl"]


def test_change_can_remove_records(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    store.save({name: record(name) for name in NAMES[:3]})

    kept = store.change(lambda stored: {ONE: stored[ONE]})

    assert store.load() == kept == {ONE: record(ONE)}
    assert (tmp_path / "corpus.jsonl").read_text().count("\n") == 1


def test_save_writes_other_files_after_the_records(tmp_path: Path) -> None:
    seen: list[Records] = []

    FolderStore(tmp_path).save({}, beside=lambda folder: seen.append(FolderStore(folder).load()))

    assert seen == [{}]


def of_schema_1(folder: Path, records: Records) -> None:
    """Write a baseline as ciguard did that kept every case in a file of its own."""
    (folder / "corpus").mkdir()
    lines = ['{"schema": 1, "records": "ciguard baseline"}']
    for name in sorted(records):
        encoded = json.loads(record_to_line(records[name]))
        del encoded["shown"], encoded["tried"]
        lines.append(json.dumps(encoded, sort_keys=True))
        case = {
            "schema": 1,
            "fingerprint": name,
            "case": case_to_json(records[name].representative.case),
        }
        path = folder / "corpus" / f"{name.replace(':', '-')}.json"
        path.write_text(json.dumps(case, indent=1) + "\n")
    (folder / "buckets.jsonl").write_text("\n".join([*lines, ""]))


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20
)
@given(record_sets, record_sets)
def test_save_migrates_a_baseline_of_schema_1(
    tmp_path_factory: pytest.TempPathFactory, old: Records, new: Records
) -> None:
    folder = tmp_path_factory.mktemp("baseline")
    old = {name: replace(known, flakes=RepetitionCounts()) for name, known in old.items()}
    of_schema_1(folder, old)
    store = FolderStore(folder)

    assert store.load() == merge(old, {})
    store.save(new)

    assert store.load() == merge(old, new)
    assert files(folder) == ["buckets.jsonl", "corpus.jsonl"]
    assert json.loads((folder / "buckets.jsonl").read_text().splitlines()[0])["schema"] == 3


def test_save_completes_an_interrupted_migration(tmp_path: Path) -> None:
    of_schema_1(tmp_path, {ONE: record(ONE)})
    left = {path: path.read_bytes() for path in (tmp_path / "corpus").iterdir()}
    store = FolderStore(tmp_path)
    store.save({})
    (tmp_path / "corpus").mkdir()
    for path, content in left.items():  # as if it had ended before it removed these
        path.write_bytes(content)

    assert store.load() == {ONE: record(ONE)}
    store.save({})
    assert files(tmp_path) == ["buckets.jsonl", "corpus.jsonl"]


def test_save_of_equal_records_changes_no_byte(stored: FolderStore) -> None:
    before = {path: path.read_bytes() for path in stored.folder.rglob("*") if path.is_file()}

    stored.save(stored.load())

    assert {path: path.read_bytes() for path in before} == before


def test_load_merges_two_lines_of_one_bucket(stored: FolderStore) -> None:
    index = stored.folder / "buckets.jsonl"
    header, line = index.read_text().splitlines()
    other = json.loads(line) | {"issue": "12"}
    index.write_text("\n".join([header, line, json.dumps(other), ""]))

    assert stored.load() == {ONE: replace(record(ONE), issue="12")}


def _line(stored: FolderStore, **changes: object) -> str:
    line = (stored.folder / "buckets.jsonl").read_text().splitlines()[1]
    return json.dumps(json.loads(line) | changes)


DAMAGE = {
    "no header": ("", "line 1: the line is not the header"),
    "a list": ("[1]", "line 1: the line is not the header"),
    "a newer schema": (
        '{"schema": 4}',
        "line 1: a newer version of ciguard wrote the baseline (schema 4",
    ),
    "an odd schema": ('{"schema": "x"}', "line 1: schema 'x' is not a positive integer"),
    "half a line": (f'{HEADER}\n{{"finger', "line 2: "),
    "deep nesting": (f"{HEADER}\n{'[' * 100_000}", "line 2: "),
    "no fingerprint": (f"{HEADER}\n{{}}", "line 2: 'fingerprint' is not"),
    "a path for a name": (
        f'{HEADER}\n{{"fingerprint": "../../x"}}',
        "line 2: 'fingerprint' is not",
    ),
    "an unknown bucket": (
        f'{HEADER}\n{{"fingerprint": "{NAMES[7]}"}}',
        "does not contain the case of",
    ),
}


def test_load_accepts_records_without_evidence(stored: FolderStore) -> None:
    index = stored.folder / "buckets.jsonl"
    lines = [json.loads(line) for line in index.read_text().splitlines()]
    for line in lines:
        line.pop("evidence", None)
    before = stored.load()

    index.write_text("".join(json.dumps(line) + "\n" for line in lines))

    assert set(stored.load()) == set(before)
    assert all(r.representative.evidence == Evidence() for r in stored.load().values())


@pytest.mark.parametrize("damage", DAMAGE)
def test_load_with_a_damaged_index_raises_and_leaves_it_unchanged(
    stored: FolderStore, damage: str
) -> None:
    text, message = DAMAGE[damage]
    index = stored.folder / "buckets.jsonl"
    index.write_text(text)

    with pytest.raises(BaselineError) as caught:
        stored.load()
    with pytest.raises(BaselineError):
        stored.save({ONE: record(ONE)})

    assert message in str(caught.value)
    assert str(stored.folder) in str(caught.value)
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
        {"tried": 1, "shown": 2},
    ],
)
def test_load_with_a_malformed_field_raises_with_its_line(
    stored: FolderStore, changes: dict[str, object]
) -> None:
    index = stored.folder / "buckets.jsonl"
    index.write_text(f"{HEADER}\n{_line(stored, **changes)}\n")

    with pytest.raises(BaselineError, match=r"buckets.jsonl, line 2: .*Restore the file"):
        stored.load()


def test_load_of_invalid_utf8_raises(stored: FolderStore) -> None:
    (stored.folder / "buckets.jsonl").write_bytes(b"\xff\xfe")

    with pytest.raises(BaselineError, match="not UTF-8"):
        stored.load()


def test_load_of_a_bucket_without_its_case_raises(stored: FolderStore) -> None:
    path = stored.folder / "corpus.jsonl"
    path.write_text(path.read_text().replace(ONE, NAMES[2]))

    with pytest.raises(
        BaselineError, match=f"line 2: the corpus does not contain the case of the bucket {ONE}"
    ):
        stored.load()


def test_load_with_a_malformed_case_raises_with_file_and_line(stored: FolderStore) -> None:
    path = stored.folder / "corpus.jsonl"
    path.write_text(path.read_text() + json.dumps({"fingerprint": NAMES[2], "case": "x"}))

    with pytest.raises(BaselineError, match=r"corpus.jsonl, line 2: malformed case"):
        stored.load()


@pytest.mark.parametrize("number", ["Infinity", "NaN", "1e999", "1" * 5_000])
def test_load_with_a_malformed_number_raises_with_file_and_line(
    stored: FolderStore, number: str
) -> None:
    path = stored.folder / "corpus.jsonl"
    first, *rest = path.read_text("utf-8").splitlines()
    line = json.loads(first)
    line["case"][5] = "the seed"
    text = json.dumps(line).replace('"the seed"', number)
    path.write_text("\n".join([text, *rest]) + "\n", "utf-8")

    with pytest.raises(BaselineError, match=r"corpus\.jsonl, line 1: "):
        FolderStore(stored.folder).load()


def test_load_keeps_the_simpler_of_two_cases(stored: FolderStore) -> None:
    path = stored.folder / "corpus.jsonl"
    complicated = case_to_line(ONE, record(ONE, argument="complicated").representative.case)
    path.write_text(f"{complicated}\n{path.read_text()}")

    assert stored.load() == {ONE: record(ONE)}


def test_load_does_not_follow_links(
    stored: FolderStore, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = stored.folder / "corpus.jsonl"
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "secret"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)

    with pytest.raises(BaselineError, match="cannot be read"):
        stored.load()


def test_load_does_not_wait_for_a_pipe(stored: FolderStore) -> None:
    index = stored.folder / "buckets.jsonl"
    index.unlink()
    os.mkfifo(index)

    with pytest.raises(BaselineError):
        stored.load()
