from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from github_markdown import live_parts

from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.domain.events import DocumentationChecked, Event, RunFinished
from ciguard.domain.findings import Bucket, Comparison, Severity, Verdict, bucket_from_json
from ciguard.domain.policy import Policy
from ciguard.errors import OutputError
from ciguard.reports import CONSOLES, REPORTERS, Destination, Reporter
from ciguard.reports.summary import LIMIT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.domain.values import Json

DOCUMENTS = sorted(set(REPORTERS.items()) - CONSOLES)


def _write(name: str, events: list[Event], folder: Path, **options: Any) -> None:
    destination = Destination(folder=folder, stream=io.StringIO(), **options)
    reporter: Reporter = REPORTERS.get(name)(destination)
    for event in events:
        reporter.receive(event)
    reporter.close()


def _run(folder: Path) -> Json:
    return json.loads((folder / "run.json").read_text("utf-8"))


def _junit(folder: Path) -> ET.Element:
    return ET.parse(folder / "junit.xml").getroot()


@pytest.mark.parametrize("name", sorted(REPORTERS.items()))
def test_every_reporter_takes_a_whole_run_and_closes(
    name: str, events: list[Event], tmp_path: Path
) -> None:
    _write(name, events, tmp_path)

    assert bool(list(tmp_path.iterdir())) == (name not in CONSOLES)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_unwritable_report_raises_and_keeps_the_previous_file(
    name: str, events: list[Event], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")

    with pytest.raises(OutputError, match=r"cannot be written.*--out"):
        _write(name, events, tmp_path / "file")

    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_folder_has_only_complete_reports(name: str, events: list[Event], tmp_path: Path) -> None:
    _write(name, events, tmp_path)

    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_buckets_are_one_object_per_line_and_can_be_read_back(
    events: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    _write("json", events, tmp_path)

    lines = (tmp_path / "buckets.jsonl").read_text("utf-8").splitlines()

    read = {bucket.fingerprint: bucket for bucket in map(bucket_from_json, map(json.loads, lines))}
    assert read == {bucket.fingerprint: bucket for bucket in finished().buckets}
    classes = {json.loads(line)["class"] for line in lines}
    assert {"security-crash", "crash", "wrong-result"} <= classes


def test_run_json_holds_targets_outcomes_stages_and_what_is_needed_to_run_again(
    events: list[Event], tmp_path: Path
) -> None:
    _write("json", events, tmp_path)

    run = _run(tmp_path)
    assert (run["schema"], run["verdict"], run["exit_code"]) == (1, "NEW FINDINGS", 1)
    assert run["outcomes"]["crashed"] == 330
    assert run["stages"] == {"provision": 12.5, "describe": 3.25, "explore": 120.0, "confirm": 30.0}
    assert run["buckets"]["not run"] == 1
    assert run["parameters"]["seed"] == 7
    torch = run["targets"][0]
    assert (torch["version"], torch["apis_exercised"]) == ("2.13.0", 1400)
    assert torch["packages"]["numpy"] == "2.4.6"
    assert run["targets"][3]["not_run"].startswith("no such device")


def test_the_summary_shows_fuzzed_text_inert(events: list[Event], tmp_path: Path) -> None:
    _write("summary", events, tmp_path)

    text = (tmp_path / "summary.md").read_text("utf-8")

    live = live_parts(text)
    assert "<script>" not in live
    assert "@everyone" not in live
    assert live.count("</details>") == live.count("<details>") == 13
    assert re.sub(r"[\n -\U0010ffff]", "", text) == ""
    section = text.partition("## NEW")[2].partition("<details>")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 1 + 12
    assert {row.count("|") for row in rows} == {8}  # no cell is ended by what is in it


def test_summary_lists_what_was_not_run(events: list[Event], tmp_path: Path) -> None:
    _write("summary", events, tmp_path)

    text = (tmp_path / "summary.md").read_text("utf-8")

    section = text.partition("## NOT RUN (2)")[2]
    assert "target `torch==2.13.0@cuda`: <code>no such device" in section
    assert "| `abcd0007` | critical | crash |" in section


def test_summary_shows_the_script_in_a_block_that_the_script_cannot_end(
    events: list[Event], tmp_path: Path
) -> None:
    scripts = tmp_path / "reproducers"
    scripts.mkdir()
    (scripts / "abcd0001.py").write_text('x = """```\n</details>"""\n', encoding="utf-8")

    _write("summary", events, tmp_path)

    text = (tmp_path / "summary.md").read_text("utf-8")
    assert '````python\nx = """```\n</details>"""' in text


def _repeated(buckets: tuple[Bucket, ...], times: int) -> tuple[Bucket, ...]:
    """Return `times` copies of each bucket, with fingerprints of their own."""
    return tuple(
        replace(bucket, fingerprint=f"v1:{number:016x}")
        for number, bucket in enumerate(buckets * times)
    )


def test_summary_is_within_the_limit_of_a_step_summary(
    finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    long = tuple(
        replace(b, finding=replace(b.finding, api="😀" * 200, message="😀" * 999))
        for b in finished().buckets
    )
    many = finished(buckets=_repeated(long, 1_000))

    _write("summary", [many], tmp_path)

    text = (tmp_path / "summary.md").read_bytes()
    assert len(text) <= LIMIT_BYTES
    assert b"The rest does not fit here" in text


def test_the_summary_of_many_buckets_shows_every_class_of_them(
    finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    many = finished(buckets=_repeated(finished().buckets, 1_000))

    _write("summary", [many], tmp_path)

    text = (tmp_path / "summary.md").read_text("utf-8")
    titles = re.findall(r"^## (.*)", text, re.MULTILINE)
    assert titles[:6] == [
        "NEW (12000)",
        "FIXED (1000)",
        "KNOWN (1000)",
        "FLAKY (1000)",
        "NOT RUN (1001)",
        "Targets",
    ]
    assert "and 11,800 more in `buckets.jsonl`" in text


def test_junit_has_a_case_per_target_and_per_bucket_and_fails_what_is_new(
    events: list[Event], tmp_path: Path
) -> None:
    _write("junit", events, tmp_path)

    root = _junit(tmp_path)
    targets, api = root.findall("testsuite")
    assert (targets.get("name"), targets.get("tests"), targets.get("skipped")) == (
        "ciguard.targets",
        "4",
        "1",
    )
    assert (api.get("tests"), api.get("failures"), api.get("skipped")) == ("16", "11", "4")


def test_junit_fails_only_what_reaches_the_failing_severity(
    events: list[Event], tmp_path: Path
) -> None:
    _write("junit", events, tmp_path, policy=Policy(fail_on=Severity.CRITICAL))

    assert len(_junit(tmp_path).findall(".//failure")) == 10


def test_junit_has_no_failure_when_the_run_established_the_baseline(
    finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    _write("junit", [finished(verdict=Verdict.ESTABLISHED, exit_code=0)], tmp_path)

    root = _junit(tmp_path)
    assert root.findall(".//failure") == []
    assert len(root.findall(".//skipped")) == 4 + 11 + 1


def test_junit_shows_a_fixed_bucket_as_passed(
    finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    fixed = tuple(item for item in finished().buckets if item.comparison is Comparison.FIXED)

    _write("junit", [finished(buckets=fixed)], tmp_path)

    suite = _junit(tmp_path).findall("testsuite")[1]
    (case,) = suite.findall("testcase")
    assert [(child.tag, child.text) for child in case] == [("system-out", "FIXED")]


DOCUMENTATION = DocumentationChecked(
    library="lib",
    findings=tuple(
        DocumentationFinding(
            check=check,
            library="lib",
            api=f"lib.f{number}",
            parameter="x",
            message="'x' is @everyone and <b>",
            evidence="\ud800 \u2028",
        )
        for number in range(9)
        for check in (DocumentationCheck.UNDESCRIBED, DocumentationCheck.CONTRADICTION)
    ),
)


def test_findings_of_documentation_are_one_object_per_line(
    events: list[Event], tmp_path: Path
) -> None:
    _write("documentation", [events[0], DOCUMENTATION, *events[1:]], tmp_path)

    lines = (tmp_path / "documentation.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["api"] for line in lines[:3]] == ["lib.f0", "lib.f0", "lib.f1"]
    assert {json.loads(line)["severity"] for line in lines} == {"low"}
    assert len({json.loads(line)["fingerprint"] for line in lines}) == len(lines) == 18


def test_summary_lists_misleading_documentation_first(events: list[Event], tmp_path: Path) -> None:
    _write("summary", [events[0], DOCUMENTATION, *events[1:]], tmp_path)

    text = (tmp_path / "summary.md").read_text("utf-8")
    section = text.partition("## Documentation")[2]
    assert "9 undescribed, 9 contradiction" in section
    assert section.count("`lib.f") == 10
    assert "<b>" not in section
    assert "@everyone" not in section


def test_summary_without_documentation_findings_has_no_such_section(
    events: list[Event], tmp_path: Path
) -> None:
    _write("summary", events, tmp_path)

    assert "## Documentation" not in (tmp_path / "summary.md").read_text("utf-8")
