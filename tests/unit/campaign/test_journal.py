from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from campaign_examples import ONE, bucket, crash
from hypothesis import given, settings
from hypothesis import strategies as st

from ciguard.campaign.journal import JOURNAL, Journal, ResumeState, archive_journal, read_journal
from ciguard.domain.findings import Tally
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path

PARAMETERS = {"ciguard": "0.1.0", "seed": 5}
STATE: dict[str, Any] = {
    "cases": 48,
    "batches": {"done": 3, "deaths": {"planted.fragile": [[1, 2]]}},
}
TARGETS = {ONE: {"tally": Tally(passed=47, crashed=1).as_dict(), "exercised": ["planted.double"]}}
START = {"type": "start", "schema": 2, "parameters": PARAMETERS}


def write(folder: Path, *lines: object) -> None:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / JOURNAL).write_text(text, "utf-8")


def test_recorded_entries_are_read_back(tmp_path: Path) -> None:
    pending, settled = crash("fragile"), crash("checked")
    with Journal(tmp_path) as journal:
        journal.start(PARAMETERS)
        journal.progress(1.5, streams={"explore": STATE}, targets=TARGETS, counts={"v1:b": 7})
        journal.candidate("v1:a", pending)
        journal.candidate("v1:b", settled)
        journal.bucket("v1:b", bucket(settled))

    past = read_journal(tmp_path)

    assert past == ResumeState(
        parameters=PARAMETERS,
        elapsed_s=1.5,
        streams={"explore": STATE},
        targets=TARGETS,
        candidates={"v1:a": pending},
        buckets=[("v1:b", bucket(settled))],
        counts={"v1:b": 7},
    )


def test_the_latest_progress_counts_and_every_exercised_api_is_kept(tmp_path: Path) -> None:
    later = {ONE: {"tally": Tally(passed=90).as_dict(), "exercised": ["planted.cube"]}}
    with Journal(tmp_path) as journal:
        journal.start(PARAMETERS)
        journal.progress(1.0, streams={"explore": STATE}, targets=TARGETS, counts={})
        journal.progress(2.0, streams={"explore": {**STATE, "cases": 90}}, targets=later, counts={})

    past = read_journal(tmp_path)

    assert (past.elapsed_s, past.streams["explore"]["cases"]) == (2.0, 90)
    assert past.targets[ONE]["tally"]["passed"] == 90
    assert past.targets[ONE]["exercised"] == ["planted.double", "planted.cube"]


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_torn_last_line_is_skipped_and_the_next_line_is_whole(tmp_path: Path, cut: int) -> None:
    with Journal(tmp_path) as journal:
        journal.start(PARAMETERS)
        journal.progress(1.0, streams={}, targets={}, counts={"v1:a": 1})
        journal.progress(1.0, streams={}, targets={}, counts={"v1:a": 2})
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes()[:-cut])

    torn = read_journal(tmp_path).counts
    with Journal(tmp_path) as journal:
        journal.progress(1.0, streams={}, targets={}, counts={"v1:b": 3})

    assert torn == ({"v1:a": 2} if cut == 1 else {"v1:a": 1})
    assert read_journal(tmp_path).counts == {"v1:b": 3}


@given(st.integers(0, 400))
@settings(max_examples=30)
def test_a_journal_cut_at_any_byte_is_readable(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    folder = tmp_path_factory.mktemp("run")
    with Journal(folder) as journal:
        journal.start(PARAMETERS)
        began_at = (folder / JOURNAL).stat().st_size
        journal.progress(1.0, streams={"explore": STATE}, targets=TARGETS, counts={})
    path = folder / JOURNAL
    path.write_bytes(path.read_bytes()[: began_at + length])

    past = read_journal(folder)

    assert past.parameters == PARAMETERS
    assert past.elapsed_s in {0.0, 1.0}


def test_lines_of_later_versions_and_garbage_are_skipped(tmp_path: Path) -> None:
    lines = [json.dumps(START), "[1]", "null", "{", "\x00", "[" * 100_000, '{"type": "weather"}']
    (tmp_path / JOURNAL).write_text("\n".join(lines), "utf-8")

    assert read_journal(tmp_path) == ResumeState(parameters=PARAMETERS)


@pytest.mark.parametrize(
    "line",
    [
        {"no": "type"},
        {"type": "start"},
        {"type": "start", "schema": 2, "parameters": 7},
        {"type": "progress"},
        {"type": "progress", "elapsed_s": "soon", "streams": {}, "targets": {}},
        {"type": "progress", "elapsed_s": 1, "streams": [], "targets": {}},
        {"type": "progress", "elapsed_s": 1, "streams": {"x": {"cases": 1}}, "targets": {}},
        {
            "type": "progress",
            "elapsed_s": 1,
            "streams": {"x": {**STATE, "cases": -1}},
            "targets": {},
        },
        {
            "type": "progress",
            "elapsed_s": 1,
            "streams": {"x": {**STATE, "batches": 3}},
            "targets": {},
        },
        {"type": "progress", "elapsed_s": 1, "streams": {}, "targets": {"x": {"tally": {}}}},
        {"type": "candidate", "key": "v1:a", "finding": {"oracle": "crash"}},
        {"type": "bucket", "key": "v1:a", "bucket": "none"},
        {"type": "progress", "elapsed_s": 1, "streams": {}, "targets": {}, "counts": {"a": "b"}},
        {"type": "progress", "elapsed_s": 1, "streams": {}, "targets": {}, "counts": [1]},
    ],
)
def test_a_hostile_line_is_a_clear_error(tmp_path: Path, line: object) -> None:
    write(tmp_path, START, line)

    with pytest.raises(OutputError, match=r"journal\.jsonl: not a journal of ciguard .*--resume"):
        read_journal(tmp_path)


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {**START, "schema": 3})
    before = (tmp_path / JOURNAL).read_bytes()

    with pytest.raises(OutputError, match=r"schema 3, this ciguard reads 2\. Resume with"):
        read_journal(tmp_path)

    assert (tmp_path / JOURNAL).read_bytes() == before


def test_a_missing_journal_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="nothing to resume"):
        read_journal(tmp_path)

    write(tmp_path, {"type": "candidate"})
    with pytest.raises(OutputError, match="not a journal of ciguard"):
        read_journal(tmp_path)


def test_a_run_that_was_killed_before_its_first_line_has_no_parameters(tmp_path: Path) -> None:
    write(tmp_path)

    assert read_journal(tmp_path).parameters == {}


def test_a_journal_without_its_first_line_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"type": "of a later version"})

    with pytest.raises(OutputError, match="contains no started run"):
        read_journal(tmp_path)


def test_the_journal_of_an_earlier_run_is_renamed(tmp_path: Path) -> None:
    write(tmp_path, START)

    archive_journal(tmp_path)

    assert not (tmp_path / JOURNAL).exists()
    assert (tmp_path / f"previous-{JOURNAL}").read_text("utf-8") == json.dumps(START) + "\n"


def test_an_empty_journal_replaces_no_earlier_one(tmp_path: Path) -> None:
    write(tmp_path, START)
    archive_journal(tmp_path)
    Journal(tmp_path).close()

    archive_journal(tmp_path)

    assert (tmp_path / f"previous-{JOURNAL}").read_text("utf-8") == json.dumps(START) + "\n"


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file", "utf-8")

    with pytest.raises(OutputError, match=r"cannot be written: .*--resume"):
        Journal(tmp_path / "out")


@pytest.mark.parametrize(("proven_s", "done"), [(None, 1), (2.0, 2), (3.5, 3)])
def test_waiting_progress_counts_once_it_is_proven(
    tmp_path: Path, proven_s: float | None, done: int
) -> None:
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        for number, waits in enumerate((False, True, True), start=1):
            state = {"s": {"cases": number, "batches": {}}}
            journal.progress(float(number), streams=state, targets={}, counts={}, waits=waits)
        if proven_s is not None:
            journal.proven(proven_s)
        journal.resume()
        journal.proven(9.0)

    past = read_journal(tmp_path)

    assert past.streams["s"]["cases"] == done
    assert past.elapsed_s == 3.0
