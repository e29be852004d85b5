"""Onset of a defect: JSON round trips, phrases and validation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from baseline_examples import NAMES, record

from ciguard.baseline import BaselineRecord, bucket_of, merge
from ciguard.baseline.store import FolderStore
from ciguard.domain.findings import Comparison, bucket_from_json, bucket_to_json
from ciguard.domain.onset import Onset, onset_from_json, onset_to_json
from ciguard.reports import bucket_lines
from ciguard.trackers.body import report
from ciguard.trackers.context import Context

ONSET = Onset(first_bad="2.1", last_good="1.2", between=("1.3", "2.0"))
WORDS = "since 2.1, or since one of 1.3, 2.0; 1.2 does not show it"


@pytest.mark.parametrize("onset", [None, ONSET, Onset(first_bad="2.13.0+cpu")])
def test_onset_round_trips_through_json(onset: Onset | None) -> None:
    assert onset_from_json(onset_to_json(onset)) == onset


@pytest.mark.parametrize(
    "encoded",
    [
        [],
        {},
        {"first_bad": "", "last_good": "", "between": []},
        {"first_bad": "2.1\n# x", "last_good": "", "between": []},
        {"first_bad": "2.1", "last_good": "<b>", "between": []},
        {"first_bad": "2.1", "last_good": "", "between": ["@all"]},
    ],
)
def test_onset_from_json_without_valid_versions_raises(encoded: object) -> None:
    with pytest.raises(ValueError, match=r"version|type|object"):
        onset_from_json(encoded)


def test_onset_is_stored_with_the_bucket_and_shown_in_report_and_issue() -> None:
    bucket = bucket_of(replace(record(), onset=ONSET), Comparison.NEW)

    assert bucket_from_json(bucket_to_json(bucket)).onset == ONSET
    assert f"Seen {WORDS}" in list(bucket_lines(bucket, "", None))
    assert f"Seen {WORDS}." in report(bucket, Context()).body
    assert Onset(first_bad="2.1").words == "in all testable releases, since 2.1"


def test_baseline_stores_the_onset_and_reads_records_without_it(tmp_path: object) -> None:
    store = FolderStore(tmp_path)  # type: ignore[arg-type]
    store.save({NAMES[1]: replace(record(), onset=ONSET)})

    assert FolderStore(store.folder).load()[NAMES[1]].onset == ONSET
    index = store.folder / "buckets.jsonl"
    lines = index.read_text().splitlines()
    start = lines[1].index('"since": {')
    stop = lines[1].index("}", start)
    index.write_text(f"{lines[0]}\n{lines[1][:start]}{lines[1][stop + 3 :]}\n")
    assert FolderStore(store.folder).load()[NAMES[1]].onset is None


def test_merged_onset_does_not_depend_on_the_order_of_the_records() -> None:
    copies: list[BaselineRecord] = [
        replace(record(), onset=onset) for onset in (None, ONSET, Onset(first_bad="2.0"))
    ]
    merged = [
        merge({NAMES[1]: first}, {NAMES[1]: second})[NAMES[1]].onset
        for first in copies
        for second in copies
    ]

    assert (
        merged
        == [None, ONSET, copies[2].onset, ONSET, ONSET, copies[2].onset] + [copies[2].onset] * 3
    )
