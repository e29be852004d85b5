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

    from ciguard.domain.findings import Bucket

COUNT = 2_000


def _report(name: str, buckets: list[Bucket], folder: Path) -> None:
    reporter = REPORTERS.get(name)(Destination(folder=folder, stream=io.StringIO()))
    for event in run_of(buckets):
        reporter.receive(event)


@pytest.mark.parametrize(("name", "file"), [("json", "buckets.jsonl"), ("junit", "junit.xml")])
def test_a_report_is_never_in_memory_as_a_whole(name: str, file: str, tmp_path: Path) -> None:
    _report(name, many(1), tmp_path)  # what is imported at first use does not count
    buckets = many(COUNT)

    tracemalloc.start()
    try:
        _report(name, buckets, tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # Lists that order and group the buckets; as a tree of elements it takes seven times its size.
    assert peak < 2 * (tmp_path / file).stat().st_size
