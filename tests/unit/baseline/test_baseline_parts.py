"""A baseline that is kept in parts: which there are, what is read of them, what is written."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from baseline_examples import NAMES, record, record_sets
from hypothesis import HealthCheck, given, settings

from ciguard.baseline import BaselineRecord, Records, inventory, merge
from ciguard.baseline.encoding import case_to_line, record_to_line
from ciguard.baseline.store import FolderStore
from ciguard.errors import BaselineError
from ciguard.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

ONE, OTHER = NAMES[1], NAMES[2]
KNOWN = {name: record(name) for name in NAMES}


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two buckets fill a part; so many files need not survive a loss of power."""
    monkeypatch.setattr("ciguard.baseline.layout.MAX_BUCKETS_PER_PART", 2)
    monkeypatch.setattr("os.fsync", lambda _: None)


def content(folder: Path) -> dict[str, bytes]:
    """Return the contents of a baseline's files, only the beginning of huge ones."""
    held = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.name != ".lock":
            with path.open("rb") as stream:
                held[path.relative_to(folder).as_posix()] = stream.read(1 << 20)
    return held


@pytest.fixture
def stored(_few: None, tmp_path: Path) -> FolderStore:
    store = FolderStore(tmp_path)
    store.save(KNOWN)
    return store


def test_save_writes_lines_to_the_part_of_their_first_digit(stored: FolderStore) -> None:
    files = content(stored.folder)

    assert len(files) == 1 + 2 * 16
    assert json.loads(files["buckets.jsonl"]) == {
        "schema": 3,
        "records": "ciguard baseline",
        "digits": 1,
    }
    assert json.loads(files["buckets/1.jsonl"])["fingerprint"] == ONE
    assert json.loads(files["corpus/1.jsonl"])["fingerprint"] == ONE
    assert files["buckets/f.jsonl"] == files["corpus/f.jsonl"] == b""
    assert FolderStore(stored.folder).load() == KNOWN


def test_save_of_more_than_two_thousand_buckets_writes_sixteen_parts(tmp_path: Path) -> None:
    names = [f"v1:{(n * 0x9E3779B97F4A7C15) % 2**64:016x}" for n in range(1, 2_002)]
    records = {name: record(name) for name in names}
    store = FolderStore(tmp_path)

    store.save({name: records[name] for name in names[1:]})
    small = content(tmp_path)
    store.save(records)
    large = content(tmp_path)
    assert FolderStore(tmp_path).load() == records
    store.change(lambda known: {name: known[name] for name in names[1:]})

    assert set(small) == {"buckets.jsonl", "corpus.jsonl"}
    assert len(large) == 1 + 2 * 16
    assert max(map(len, large.values())) < len(small["buckets.jsonl"]) / 8
    assert content(tmp_path) == small


@pytest.mark.usefixtures("_few")
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(record_sets, record_sets, record_sets)
@pytest.mark.lengthy
def test_save_is_independent_of_the_order_of_writers(
    tmp_path_factory: pytest.TempPathFactory, first: Records, second: Records, third: Records
) -> None:
    orders = ((first, second, third), (third, first, second, third), (merge(second, third), first))
    folders = [tmp_path_factory.mktemp("baseline") for _ in orders]

    for folder, order in zip(folders, orders, strict=True):
        for records in order:
            FolderStore(folder).save(records)

    contents = list(map(content, folders))
    assert contents[0] == contents[1] == contents[2]


def test_save_writes_only_parts_with_changes(stored: FolderStore) -> None:
    before = {path: path.stat().st_ino for path in stored.folder.rglob("*.jsonl")}

    stored.save({ONE: replace(record(ONE), issue="7")})
    changed = {
        path.parent.name + path.stem for path, i in before.items() if path.stat().st_ino != i
    }
    stored.save({OTHER: record(OTHER, argument=0)})
    two = {path.parent.name + path.stem for path, i in before.items() if path.stat().st_ino != i}

    assert changed == {"buckets1"}
    assert two == {"buckets1", "buckets2", "corpus2"}


@pytest.mark.usefixtures("_few")
@pytest.mark.lengthy
def test_save_of_large_buckets_writes_more_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"v1:{first}{second}{'0' * 14}" for first in "01" for second in "0123456789"]
    records = {name: record(name, argument="x" * 500) for name in names}
    size = len(record_to_line(records[names[0]])) + 1
    monkeypatch.setattr("ciguard.baseline.writing.MAX_PART_BYTES", 9 * size)

    FolderStore(tmp_path / "at once").save(records)
    for name in reversed(names):
        FolderStore(tmp_path / "one by one").save({name: records[name]})

    files = content(tmp_path / "at once")
    assert json.loads(files["buckets.jsonl"])["digits"] == 2
    assert files == content(tmp_path / "one by one")
    assert FolderStore(tmp_path / "at once").load() == records


def test_save_of_a_too_large_bucket_raises_and_writes_nothing(
    stored: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(stored.folder)
    monkeypatch.setattr("ciguard.baseline.writing.MAX_PART_BYTES", 2_000)

    with pytest.raises(BaselineError, match="is too large, so the stored one is unchanged"):
        stored.save({"v1:1fffffffffffffff": record("v1:1fffffffffffffff", argument="x" * 2_000)})

    assert content(stored.folder) == before


def _header(folder: Path, **changes: object) -> None:
    path = folder / "buckets.jsonl"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes) + "\n")


def _append(source: str, to: str, folder: Path) -> None:
    with (folder / to).open("a") as stream:
        stream.write((folder / source).read_text())


def _link(file: str, folder: Path) -> None:
    target = folder.with_name(f"{folder.name}-elsewhere")
    (folder / file).rename(target)
    (folder / file).symlink_to(target)


def _pipe(folder: Path) -> None:
    part = folder / "buckets/1.jsonl"
    part.unlink()
    os.mkfifo(part)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a bucket in two parts": (
        partial(_append, "buckets/1.jsonl", "buckets/2.jsonl"),
        f"buckets/2.jsonl, line 2: the bucket {ONE} is in the wrong part; it belongs in part 1",
    ),
    "a bucket beside the header": (
        partial(_append, "buckets/1.jsonl", "buckets.jsonl"),
        f"buckets.jsonl, line 2: the bucket {ONE} is in the wrong part; it belongs in part 1",
    ),
    "a case in two parts": (
        partial(_append, "corpus/1.jsonl", "corpus/2.jsonl"),
        f"corpus/2.jsonl, line 2: the bucket {ONE} is in the wrong part; it belongs in part 1",
    ),
    "a missing part": (
        lambda folder: (folder / "buckets/f.jsonl").unlink(),
        "buckets/f.jsonl: cannot be read: No such file",
    ),
    "a missing part of cases": (
        lambda folder: (folder / "corpus/f.jsonl").unlink(),
        "corpus/f.jsonl: cannot be read: No such file",
    ),
    "a link for a part": (partial(_link, "buckets/1.jsonl"), "buckets/1.jsonl: cannot be read"),
    "a link for a folder": (partial(_link, "corpus"), "corpus: unexpected file or link"),
    "a pipe for a part": (
        _pipe,
        "buckets/1.jsonl: the path is not a regular file",
    ),
    "a huge part": (
        lambda folder: os.truncate(folder / "buckets/3.jsonl", 1 << 30),
        "buckets/3.jsonl: the file is larger than 134217728 bytes",
    ),
    "a part by another name": (
        lambda folder: (folder / "buckets/zz.jsonl").write_text(""),
        "buckets/zz.jsonl: unexpected file or link",
    ),
    "a name in capitals": (
        lambda folder: (folder / "corpus/A.jsonl").write_text(""),
        "corpus/A.jsonl: unexpected file or link",
    ),
    "a name that is no text": (
        lambda folder: (folder / "corpus/\x1b]0;x\n.jsonl").write_text(""),
        "unexpected file or link",
    ),
    "more digits than there are": (partial(_header, digits=2), "buckets/00.jsonl: cannot be read"),
    "far too many digits": (
        partial(_header, digits=9),
        "line 1: digits 9 is not an integer from 0",
    ),
    "no digits": (partial(_header, digits=None), "line 1: digits None is not an integer"),
    "digits that are a truth": (partial(_header, digits=True), "line 1: digits True is not"),
    "fewer digits than there are": (partial(_header, digits=0), "corpus.jsonl: cannot be read"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_load_with_a_damaged_part_raises_and_leaves_it_unchanged(
    stored: FolderStore, damage: str
) -> None:
    apply, message = DAMAGE[damage]
    apply(stored.folder)
    before = content(stored.folder)

    with pytest.raises(BaselineError) as caught:
        FolderStore(stored.folder).load()
    with pytest.raises(BaselineError):
        stored.save({ONE: record(ONE, argument=7)})

    assert message in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert content(stored.folder) == before


def test_save_leaves_unrelated_files_unchanged(stored: FolderStore) -> None:
    (stored.folder / "buckets" / "README.md").write_text("mine")

    stored.save({ONE: record(ONE, argument=7)})

    assert (stored.folder / "buckets" / "README.md").read_text() == "mine"


def of_schema_2(folder: Path, records: Records) -> None:
    """Write a baseline of schema 2: one file of records, and sixteen of cases."""
    (folder / "corpus").mkdir()
    lines = ['{"schema": 2, "records": "ciguard baseline"}']
    lines += [record_to_line(records[name]) for name in sorted(records)]
    (folder / "buckets.jsonl").write_text("".join(f"{line}\n" for line in lines))
    for name in sorted(records):
        with (folder / "corpus" / f"{name[3]}.jsonl").open("a") as stream:
            stream.write(f"{case_to_line(name, records[name].representative.case)}\n")


@pytest.mark.parametrize("most", [1, 2_000])
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20
)
@given(record_sets, record_sets)
@pytest.mark.lengthy
def test_save_migrates_a_baseline_of_schema_2(
    tmp_path_factory: pytest.TempPathFactory, most: int, old: Records, new: Records
) -> None:
    folder, other = tmp_path_factory.mktemp("old"), tmp_path_factory.mktemp("new")
    of_schema_2(folder, old)
    store = FolderStore(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ciguard.baseline.layout.MAX_BUCKETS_PER_PART", most)
        assert store.load() == merge(old, {})
        store.save(new)
        FolderStore(other).save(merge(old, new))

    assert FolderStore(folder).load() == merge(old, new)
    assert content(folder) == content(other)


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it."""


def kill_after(steps: int, patch: pytest.MonkeyPatch) -> None:
    """Let the writer end before its next step, after that many."""
    left = iter(range(steps))

    def or_die(act: Callable[..., None]) -> Callable[..., None]:
        def step(*arguments: Any, **options: Any) -> None:
            if next(left, None) is None:
                raise Killed
            act(*arguments, **options)

        return step

    patch.setattr("ciguard.baseline.writing.replace_file", or_die(replace_file))
    patch.setattr(Path, "unlink", or_die(Path.unlink))


def is_old_or_new(known: BaselineRecord, first: Records, after: Records) -> bool:
    """Return whether a record is the old or the new one, possibly with the new case."""
    copies = [
        records[known.fingerprint] for records in (first, after) if known.fingerprint in records
    ]
    cases = [copy.representative.case for copy in copies]
    return known.representative.case in cases and any(
        replace(known, representative=replace(known.representative, case=copy.representative.case))
        == copy
        for copy in copies
    )


BEFORE = {name: record(name) for name in NAMES[:5]}
CHANGES: dict[str, Records] = {
    "to more parts": {**KNOWN, ONE: record(ONE, argument=7)},
    "to one file": {ONE: record(ONE, argument=7)},
    "within the parts": {
        name: replace(record(name), issue="3") for name in (*NAMES[1:5], NAMES[7])
    },
}


@pytest.mark.parametrize("first", [BEFORE, {ONE: record(ONE)}], ids=["parts", "one file"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.usefixtures("_few")
@pytest.mark.lengthy
def test_save_that_is_killed_anywhere_loses_no_bucket_and_is_completed_later(
    tmp_path: Path, first: Records, change: str
) -> None:
    after = CHANGES[change]
    FolderStore(tmp_path / "whole").save(after)
    kills = 0
    while True:
        folder = tmp_path / str(kills)
        FolderStore(folder).save(first)
        with pytest.MonkeyPatch.context() as patch:
            kill_after(kills, patch)
            try:
                FolderStore(folder).change(lambda _: after)
            except Killed:
                kills += 1
            else:
                break

        loaded = FolderStore(folder).load()
        assert first.keys() & after.keys() <= loaded.keys() <= first.keys() | after.keys()
        assert all(is_old_or_new(known, first, after) for known in loaded.values())
        FolderStore(folder).change(lambda _: after)
        assert FolderStore(folder).load() == after
        assert content(folder).keys() == content(tmp_path / "whole").keys()

    assert kills > 1


def test_inventory_counts_parts_sizes_and_leftovers(stored: FolderStore) -> None:
    for name in ("buckets/3f.jsonl", "corpus.jsonl", "corpus/.new-x1"):
        (stored.folder / name).write_text("half a li")

    files_found = inventory(stored.folder)

    files = [path.stat().st_size for path in stored.folder.glob("*/?.jsonl")]
    assert stored.load() == KNOWN
    assert (files_found.parts, files_found.largest) == (16, max(files))
    assert files_found.size == sum(files) + (stored.folder / "buckets.jsonl").stat().st_size
    assert set(files_found.leftovers) == {"buckets/3f.jsonl", "corpus.jsonl", "corpus/.new-x1"}
    stored.save({})
    assert inventory(stored.folder).leftovers == ()


@pytest.mark.usefixtures("_few")
def test_load_misses_no_bucket_during_a_concurrent_change_of_layout(tmp_path: Path) -> None:
    always = {name: record(name) for name in NAMES[:2]}
    FolderStore(tmp_path).save(always)
    is_over = threading.Event()

    def move() -> None:
        while not is_over.is_set():
            FolderStore(tmp_path).save(KNOWN)
            FolderStore(tmp_path).change(lambda _: always)

    writer = threading.Thread(target=move)
    writer.start()
    try:
        seen = [FolderStore(tmp_path).load() for _ in range(60)]
    finally:
        is_over.set()
        writer.join()

    assert all(always.items() <= records.items() for records in seen)
