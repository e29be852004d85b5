from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from baseline_examples import NAMES, record
from hypothesis import given
from hypothesis import strategies as st

from ciguard.baseline import State
from ciguard.baseline.store import FolderStore
from ciguard.errors import OutputError
from ciguard.trackers import Outbox
from ciguard.trackers.contract import ROLL_UP, Report
from ciguard.trackers.tasks import (
    Close,
    File,
    Refresh,
    Task,
    is_due,
    task_from_json,
    task_to_json,
)

if TYPE_CHECKING:
    from pathlib import Path

ONE, OTHER = NAMES[1], NAMES[2]

GROUP = "g1:0123456789abcdef"
names = st.sampled_from([*NAMES, GROUP])
name_lists = st.lists(names, max_size=2).map(tuple)
reports = st.builds(
    Report,
    fingerprint=names,
    title=st.text(),
    body=st.text(),
    slug=st.text(),
    aliases=name_lists,
)
tasks = st.one_of(
    st.builds(File, report=reports, because=st.text()),
    st.builds(Refresh, report=reports, news=st.text()),
    st.builds(Close, fingerprint=names, because=st.text(), aliases=name_lists),
)


def report(name: str = ONE, body: str = "body") -> Report:
    return Report(fingerprint=name, title="title", body=body)


@given(tasks)
def test_task_round_trips_through_json(task: Task) -> None:
    assert task_from_json(json.loads(json.dumps(task_to_json(task)))) == task


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(tasks, st.sampled_from(["task", "report", "because", "news", "fingerprint"]))
def test_task_without_a_field_is_rejected(task: Task, field: str) -> None:
    encoded = task_to_json(task)
    if field in encoded:
        encoded[field] = {"no": "such"}

        with pytest.raises(ValueError, match="not a task"):
            task_from_json(encoded)


@given(json_values)
def test_invalid_task_is_rejected(value: object) -> None:
    with pytest.raises(ValueError, match="not a task"):
        task_from_json(value)


def test_added_task_stays_until_it_is_removed(tmp_path: Path) -> None:
    first, second = File(report=report()), Close(fingerprint=OTHER, because="gone")
    Outbox(FolderStore(tmp_path)).add([first, second])

    Outbox(FolderStore(tmp_path)).remove([first])

    assert Outbox(FolderStore(tmp_path)).tasks() == [second]
    Outbox(FolderStore(tmp_path)).remove([second])
    assert not (tmp_path / "outbox.jsonl").exists()


def test_refused_task_moves_to_the_end_of_the_queue(tmp_path: Path) -> None:
    refused, other, done = (Close(fingerprint=f"v1:{n:016x}", because="gone") for n in (1, 2, 3))
    Outbox(FolderStore(tmp_path)).add([refused, done, other])

    Outbox(FolderStore(tmp_path)).remove([done], postponed=[refused])

    assert Outbox(FolderStore(tmp_path)).tasks() == [other, refused]


def test_later_task_replaces_obsolete_ones_but_keeps_comments(tmp_path: Path) -> None:
    news = Refresh(report=report(), news="also on torch==2.14.0")
    outbox = Outbox(FolderStore(tmp_path))

    outbox.add([File(report=report(body="old")), Close(fingerprint=OTHER, because="gone")])
    outbox.add([news, Refresh(report=report())])
    outbox.add([File(report=report(body="new")), File(report=report(OTHER))])

    assert outbox.tasks() == [news, File(report=report(body="new")), File(report=report(OTHER))]


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"schema": 2, "task": "close"}', '{"schema": 1}', "[" * 100_000, "\x00"],
)
def test_damaged_outbox_is_reported_by_line_and_unchanged(tmp_path: Path, line: str) -> None:
    Outbox(FolderStore(tmp_path)).add([File(report=report())])
    path = tmp_path / "outbox.jsonl"
    text = path.read_text() + line + "\n"
    path.write_text(text)

    with pytest.raises(OutputError, match=r"outbox.jsonl: line 2: .*Correct that line"):
        Outbox(FolderStore(tmp_path)).add([Close(fingerprint=OTHER, because="gone")])

    assert path.read_text() == text


def test_link_in_place_of_the_outbox_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outbox.jsonl").symlink_to("/etc/passwd")

    with pytest.raises(OutputError, match="cannot be read"):
        Outbox(FolderStore(tmp_path)).tasks()


def test_outbox_of_a_version_without_groups_is_read() -> None:
    closing = {"task": "close", "fingerprint": ONE, "because": "gone"}
    filing = json.loads(json.dumps(task_to_json(File(report=report()))))
    filing["related"] = []

    assert task_from_json(closing) == Close(fingerprint=ONE, because="gone")
    assert task_from_json(filing) == File(report=report())


@pytest.mark.parametrize("name", ["g1:../../etc/passwd", "g0:0123456789abcdef", "0123", 7])
def test_task_with_an_invalid_name_is_rejected(name: object) -> None:
    with pytest.raises(ValueError, match="not a task"):
        task_from_json({"task": "close", "fingerprint": ONE, "because": "", "aliases": [name]})
    with pytest.raises(ValueError, match="not a task"):
        task_from_json({"task": "close", "fingerprint": name, "because": ""})


def test_close_task_is_due_only_if_all_counted_members_are_fixed() -> None:
    closing = Close(fingerprint=GROUP, because="gone", aliases=(ONE, OTHER))
    filing = File(report=replace(report(GROUP), aliases=(ONE, OTHER)))
    fixed = record(OTHER, state=State.FIXED)
    partly = {ONE: record(ONE), OTHER: fixed}
    accepted = {ONE: record(ONE, state=State.ACCEPTED), OTHER: fixed}

    assert is_due(filing, partly)
    assert not is_due(closing, partly)
    assert is_due(closing, accepted)
    assert not is_due(filing, accepted)
    assert not is_due(closing, {})


def test_later_run_performs_only_tasks_that_are_still_due() -> None:
    records = {ONE: record(ONE), OTHER: record(OTHER, state=State.FIXED)}
    listing = File(report=report(ROLL_UP))

    assert is_due(File(report=report(ONE)), records)
    assert is_due(Close(fingerprint=OTHER, because="gone"), records)
    assert is_due(listing, records)
    assert not is_due(Close(fingerprint=ONE, because="gone"), records)
    assert not is_due(File(report=report(OTHER)), records)
    assert not is_due(File(report=report(NAMES[3])), records)
    accepted = {ONE: record(ONE, state=State.ACCEPTED)}
    assert not is_due(File(report=report(ONE)), accepted)
