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


def test_load_needs_little_more_memory_than_the_records(tmp_path: Path) -> None:
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


def test_load_shares_sightings_and_decisions_of_one_run(tmp_path: Path) -> None:
    first, second = list(stored(tmp_path).load().values())[:2]

    assert first.first_seen == sighting()
    assert first.first_seen is second.first_seen
    assert first.decision is second.decision
    assert first.targets is second.targets
    assert first.representative.api is second.representative.api is first.representative.case.api
    history_by_name = histories({first.fingerprint: first, second.fingerprint: second})
    assert history_by_name[first.fingerprint].states is history_by_name[second.fingerprint].states


def test_load_with_a_too_deeply_nested_case_raises_a_baseline_error(tmp_path: Path) -> None:
    FolderStore(tmp_path).save({names()[0]: record(names()[0])})
    corpus = tmp_path / "corpus.jsonl"
    nested = json.loads(corpus.read_text("utf-8"))
    for _ in range(900):
        nested["case"][2] = [nested["case"][2]]
    corpus.write_text(json.dumps(nested) + "\n", "utf-8")

    with pytest.raises(BaselineError, match=r"nested too deeply|malformed case"):
        FolderStore(tmp_path).load()
