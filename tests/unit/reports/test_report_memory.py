"""Reports of a large baseline are written piece by piece."""

from __future__ import annotations

import io
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from report_examples import many, run_of

from ciguard.reports import REPORTERS, Destination

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 2_000


@pytest.mark.parametrize(("name", "file"), [("json", "buckets.jsonl"), ("junit", "junit.xml")])
def test_a_report_is_never_in_memory_as_a_whole(name: str, file: str, tmp_path: Path) -> None:
    events = run_of(many(COUNT))
    reporter = REPORTERS.get(name)(Destination(folder=tmp_path, stream=io.StringIO()))

    tracemalloc.start()
    try:
        for event in events:
            reporter.receive(event)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < (tmp_path / file).stat().st_size
