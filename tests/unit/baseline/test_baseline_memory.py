"""A large baseline is held once: as records, neither beside its text nor with a copy per record."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from baseline_examples import record, sighting

from ciguard.baseline import histories
from ciguard.baseline.store import FolderStore
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 4_000


def names() -> list[str]:
    return [f"v1:{(n * 0x9E3779B97F4A7C15) % 2**64:016x}" for n in range(1, COUNT + 1)]


def stored(folder: Path) -> FolderStore:
    FolderStore(folder).save({name: replace(record(name), issue="12") for name in names()})
    return FolderStore(folder)


def test_loading_takes_little_more_memory_than_the_records(tmp_path: Path) -> None:
    store = stored(tmp_path)

    tracemalloc.start()
    try:
        records = store.load()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(records) == COUNT
    assert kept / COUNT < 2_000
    assert peak < 2 * kept


def test_records_of_one_run_share_what_the_run_saw_and_decided(tmp_path: Path) -> None:
    one, other = list(stored(tmp_path).load().values())[:2]

    assert one.first_seen == sighting()
    assert one.first_seen is other.first_seen
    assert one.decision is other.decision
    assert one.targets is other.targets
    assert one.exhibit.api is other.exhibit.api is one.exhibit.case.api
    past = histories({one.fingerprint: one, other.fingerprint: other})
    assert past[one.fingerprint].states is past[other.fingerprint].states


def test_a_case_that_is_nested_too_deeply_is_an_error_of_the_baseline(tmp_path: Path) -> None:
    FolderStore(tmp_path).save({names()[0]: record(names()[0])})
    corpus = tmp_path / "corpus.jsonl"
    nested = json.loads(corpus.read_text("utf-8"))
    for _ in range(900):
        nested["case"][2] = [nested["case"][2]]
    corpus.write_text(json.dumps(nested) + "\n", "utf-8")

    with pytest.raises(BaselineError, match=r"nested too deeply|malformed case"):
        FolderStore(tmp_path).load()
