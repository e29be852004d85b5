"""A result folder that is not trusted is either shown or refused."""

from __future__ import annotations

import io
import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from part_examples import DANGLING, DETECTION

from ciguard.domain.detection import detection_to_json
from ciguard.domain.findings import Severity
from ciguard.domain.policy import Action, Policy
from ciguard.errors import OutputError
from ciguard.reports import REPORTERS, Destination, receive_run, status_of
from ciguard.reports.documentation import documentation_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.domain.events import Event, RunFinished
    from ciguard.domain.plan import Plan


@pytest.fixture
def folder(planned: list[Event], tmp_path: Path) -> Path:
    """Return the folder of the recorded run."""
    for name in ("json", "documentation"):
        reporter = REPORTERS.get(name)(
            Destination(folder=tmp_path / "run", stream=io.StringIO(), sources=tmp_path)
        )
        for event in planned:
            reporter.receive(event)
    return tmp_path / "run"


def changed(folder: Path, **values: Any) -> Path:
    """Change values in the `run.json` of a folder."""
    path = folder / "run.json"
    run = json.loads(path.read_text("utf-8")) | values
    path.write_text(json.dumps(run), "utf-8")
    return folder


def test_received_run_equals_the_written_one(
    folder: Path, finished: Callable[..., RunFinished], plan: Plan
) -> None:
    run = receive_run(folder)

    event = finished()
    assert {b.fingerprint: b for b in run.finished.buckets} == {
        b.fingerprint: b for b in event.buckets
    }
    assert [t.name for t in run.finished.targets] == [t.name for t in event.targets]
    assert [t.tally for t in run.finished.targets] == [t.tally for t in event.targets]
    assert run.plan == plan
    assert (run.finished.verdict, run.finished.exit_code) == (event.verdict, 1)
    assert run.finished.apis_exercised["torch==2.13.0"] == 1400


def test_received_run_has_its_planted_defects(folder: Path) -> None:
    run = receive_run(changed(folder, detection=detection_to_json(DETECTION)))

    assert run.finished.detection == DETECTION


def test_received_run_has_its_findings_about_documentation(folder: Path) -> None:
    (folder / "documentation.jsonl").write_text(documentation_text([DANGLING]))

    assert receive_run(folder).documentation == (DANGLING,)


@pytest.mark.parametrize("line", ["[1]", "{}", '{"check": "no such check"}', "x" * (1 << 20)])
def test_received_documentation_that_is_damaged_is_refused(folder: Path, line: str) -> None:
    (folder / "documentation.jsonl").write_text(f"{line}\n")

    with pytest.raises(OutputError, match=r"documentation\.jsonl does not contain"):
        receive_run(folder)


def test_received_run_has_its_own_policy(folder: Path) -> None:
    run = receive_run(changed(folder, parameters={"fail_on": "high", "rules": ["crash=report"]}))

    assert run.policy.fail_on is Severity.HIGH
    assert run.policy.rules[0].action is Action.REPORT
    assert receive_run(changed(folder, parameters={})).policy == Policy()


@pytest.mark.parametrize(
    "values",
    [
        {"schema": 2},
        {"schema": True},
        {"verdict": "ALL GOOD"},
        {"exit_code": "0"},
        {"summary": None},
        {"targets": {}},
        {"targets": [{"name": "t"}]},
        {"detection": {"noticed": [["values", "<img onerror=x>"]]}},
        {"parameters": []},
        {"parameters": {"rules": ["crash=sudo"]}},
        {"parameters": {"fail_on": "never"}},
        {"baseline": {"state": "perfect"}},
        {"baseline": {"state": "stale", "updated_at": [], "reasons": [1]}},
        {"places": {"torch": {"path": "../../etc/passwd", "line": 1}}},
        {"places": {"torch": {"path": "/etc/passwd", "line": 1}}},
        {"places": []},
        {"plan": {"schema": 1, "mode": "yolo"}},
        {"plan": []},
    ],
    ids=lambda values: json.dumps(values)[:40],
)
def test_invalid_run_json_is_rejected(folder: Path, values: dict[str, Any]) -> None:
    with pytest.raises(OutputError, match=r"run\.json does not contain the results of a run"):
        receive_run(changed(folder, **values))


BUCKET_CHANGES = [
    {"fingerprint": "../../x"},
    {"api": ["x"]},
    {"message": 7},
    {"library": {"a": 1}},
    {"targets": [1, 2]},
    {"outcomes": {"t": {"status": "rejected", "exception": [], "message": "m", "stage": "call"}}},
    {"outcomes": {"t": {"status": "hung", "limit_s": "x", "stack": []}}},
    {"outcomes": []},
    {"comparison": "fine"},
    {"case": "x"},
    {"grouping": [[1]]},
    {"count": "many"},
]


@pytest.mark.parametrize("change", BUCKET_CHANGES, ids=lambda change: json.dumps(change)[:40])
def test_invalid_bucket_is_rejected(folder: Path, change: dict[str, Any]) -> None:
    path = folder / "buckets.jsonl"
    line = json.loads(path.read_text("utf-8").splitlines()[0])
    path.write_text(json.dumps(line | change) + "\n", "utf-8")

    with pytest.raises(OutputError, match=r"buckets\.jsonl does not contain the results of a run"):
        receive_run(folder)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{", b"\xff\xfe", b"[" * 100_000, b'{"schema": ' + b"9" * 10_000 + b"}"],
    ids=["empty", "list", "null", "cut", "no-utf-8", "deep", "digits"],
)
def test_damaged_file_is_rejected(folder: Path, content: bytes) -> None:
    (folder / "run.json").write_bytes(content)

    with pytest.raises(OutputError, match="does not contain the results of a run"):
        receive_run(folder)


def test_truncated_list_of_buckets_is_rejected(folder: Path) -> None:
    path = folder / "buckets.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[1:]), "utf-8")

    with pytest.raises(
        OutputError, match=r"number of buckets differs from the number in run\.json"
    ):
        receive_run(folder)


def test_irregular_files_are_not_read(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    (folder / "run.json").rename(secret)
    (folder / "run.json").symlink_to(secret)
    with pytest.raises(OutputError):
        receive_run(folder)

    (folder / "run.json").unlink()
    os.mkfifo(folder / "run.json")
    with pytest.raises(OutputError, match="not a regular file"):
        receive_run(folder)

    (folder / "run.json").unlink()
    (folder / "run.json").mkdir()
    with pytest.raises(OutputError):
        receive_run(folder)


def test_endless_file_is_read_only_up_to_the_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ciguard.reports.received._MAX_RUN_BYTES", 100)

    with pytest.raises(OutputError, match="larger than 100 bytes"):
        receive_run(folder)


def test_no_file_outside_is_shown_as_a_reproducer(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("TOP SECRET", "utf-8")
    (folder / "reproducers").mkdir()
    (folder / "reproducers" / "link.py").symlink_to(tmp_path / "secret.py")
    path = folder / "buckets.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for line, shown in zip(
        lines,
        [
            "../secret.py",
            "reproducers/link.py",
            str(tmp_path / "secret.py"),
            "reproducers/../../secret.py",
        ],
        strict=False,
    ):
        line["reproducer"] = shown
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")

    assert "TOP SECRET" not in status_of(receive_run(folder), folder).summary


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.lengthy
def test_arbitrary_file_content_is_shown_or_rejected(folder: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["run.json", "buckets.jsonl"]))
    original = (folder / name).read_text("utf-8")
    document = json.loads(original.splitlines()[0] if name == "buckets.jsonl" else original)
    junk = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=4,
    )
    at: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not at[key] or not isinstance(at[key], dict | list) or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = data.draw(junk)
    (folder / name).write_text(json.dumps(document), "utf-8")

    try:
        run = receive_run(folder)
    except OutputError:
        pass
    else:
        assert status_of(run, folder).title
    finally:
        (folder / name).write_text(original, "utf-8")
