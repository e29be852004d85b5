"""Caveats about a verdict are in every report for people and programs."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from github_markdown import live_parts
from markdown_it import MarkdownIt
from part_examples import DETECTION, part

from ciguard.domain.baseline_status import BaselineState, BaselineStatus
from ciguard.domain.detection import DefectKind, Detection, PlantedDefect
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Tally, Verdict
from ciguard.domain.shards import Shard
from ciguard.reports import REPORTERS, Destination

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.domain.events import Event, RunFinished
    from ciguard.domain.plan import Plan

STALE = BaselineStatus(
    state=BaselineState.STALE,
    updated_at="2026-01-02T03:04:05Z",
    reasons=("it was last run on torch==2.13.0 20 days ago", "it was never run on @everyone"),
)
MISSING = BaselineStatus(state=BaselineState.MISSING)
FRESH = BaselineStatus(state=BaselineState.FRESH, updated_at="2026-01-02T03:04:05Z")


def shown(name: str, events: list[Event], folder: Path) -> str:
    """Return the text that a reporter writes, without markup."""
    stream = io.StringIO()
    reporter = REPORTERS.get(name)(Destination(folder=folder, stream=stream, sources=folder))
    for event in events:
        reporter.receive(event)
    reporter.close()
    files = {"summary": "summary.md", "junit": "junit.xml", "sarif": "report.sarif"}
    text = (folder / files[name]).read_text("utf-8") if name in files else stream.getvalue()
    return " ".join(text.replace("\n  ", " ").split())


EVERYWHERE = pytest.mark.parametrize(
    "name", ["summary", "junit", "sarif", "plain", "github", "terminal"]
)


@EVERYWHERE
def test_stale_baseline_is_reported_by_every_reporter(
    name: str, planned: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    text = shown(name, [*planned[:-1], finished(baseline=STALE)], tmp_path)

    assert "The baseline is STALE, last updated 2026-01-02" in text


@EVERYWHERE
def test_missing_baseline_is_reported_by_every_reporter(
    name: str, planned: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    ended = finished(baseline=MISSING, parameters={"base": ["torch==2.12.0"]})

    text = shown(name, [*planned[:-1], ended], tmp_path)

    assert "The baseline is MISSING, so only buckets that the base shows" in text


@EVERYWHERE
@pytest.mark.parametrize(
    "silent",
    [
        (Tally(), 1_200, "no case was run, because none of its 1,200 APIs was selected"),
        (Tally(), 0, "no case was run, because it had nothing to test"),
        (Tally(rejected=7), 1_200, "all 7 cases were rejected"),
    ],
)
def test_target_without_results_is_reported_by_every_reporter(
    name: str,
    silent: tuple[Tally, int, str],
    events: list[Event],
    finished: Callable[..., RunFinished],
    tmp_path: Path,
) -> None:
    counts, apis, sentence = silent
    ended = finished(verdict=Verdict.CLEAN)
    asked = ended.targets[0]
    other = replace(asked, name="torch==9.0", apis=apis, tally=counts)
    ended = replace(ended, targets=(asked, other))

    text = shown(name, [*events[:-1], ended], tmp_path)

    assert f"on torch==9.0: {sentence}" in text
    assert f"on {asked.name}: no case" not in text


@EVERYWHERE
def test_skipped_plan_row_is_not_run_in_every_report(
    name: str, planned: list[Event], tmp_path: Path
) -> None:
    text = shown(name, planned, tmp_path)

    assert "no runner with a GPU is configured" in text


@pytest.mark.parametrize("name", ["summary", "junit", "plain", "github"])
def test_fixed_bucket_is_attributed_to_the_pull_request(
    name: str, events: list[Event], planned: list[Event], tmp_path: Path
) -> None:
    assert "fixed by this pull request" in shown(name, planned, tmp_path).lower()
    assert "fixed by this pull request" not in shown(name, events, tmp_path).lower()


@pytest.mark.parametrize("name", ["summary", "junit", "plain", "sarif"])
def test_known_bucket_is_shown_with_its_issue(
    name: str, planned: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    known = replace(_of(finished(), Comparison.KNOWN), issue="4711")

    text = shown(name, [*planned[:-1], finished(buckets=(known,))], tmp_path)

    assert "4711" in text


def test_the_summary_links_the_issue_of_a_repository_and_no_other_address(
    finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    known = replace(_of(finished(), Comparison.KNOWN), issue="4711")

    def summary(issue: str, tracker: object) -> str:
        buckets = (replace(known, issue=issue),)
        ended = finished(buckets=buckets, parameters={"issues": tracker})
        shown("summary", [ended], tmp_path)
        text = (tmp_path / "summary.md").read_text("utf-8")
        return str(MarkdownIt("gfm-like").render(text))

    assert '<a href="https://github.com/o/n.x/issues/4711">#4711<' in summary(
        "4711", "github:o/n.x"
    )
    assert "https://ghe.example/o/n/issues/1" in summary("1", "github:https://ghe.example/o/n")
    for issue, tracker in (
        ("4711", "github:javascript:alert(1)"),
        ("4711", "github:o/n)[x](http://evil"),
        ("4711", ["github:o/n"]),
        ("1)[x](http://evil", "github:o/n"),
        ("٣", "github:o/n"),
    ):
        assert "<a " not in summary(issue, tracker)


def test_summary_sections_are_ordered_by_importance(
    planned: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    pending = replace(
        _of(finished(), Comparison.NEW),
        fingerprint="v1:00000000000000ff",
        confirmation=Confirmation.PENDING,
    )
    ended = finished(buckets=(*finished().buckets, pending), baseline=STALE)

    text = shown("summary", [*planned[:-1], ended], tmp_path)

    order = [
        "# ciguard: NEW FINDINGS",
        "11 new buckets",
        "The baseline is STALE",
        "## NEW (12)",
        "## FIXED BY THIS PULL REQUEST (1)",
        "## KNOWN (1)",
        "## FLAKY (1)",
        "## UNCONFIRMED (1)",
        "## NOT RUN (3)",
        "## Targets",
        "## Plan: what was tested and why",
        "tensorflow-cpu goes from 2.12.0 to 2.21.0",
        "## Seconds by stage",
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


@pytest.mark.parametrize("name", ["summary", "github", "sarif"])
def test_names_in_caveats_are_escaped(
    name: str, events: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    lost = replace(finished().targets[3], name="x](http://evil)\n::error::@everyone<img src=x>")
    ended = finished(baseline=STALE, targets=(lost,))

    text = shown(name, [*events[:-1], ended], tmp_path)

    assert "\n::error::@" not in text
    if name == "summary":
        live = live_parts((tmp_path / "summary.md").read_text("utf-8"))
        assert "http:" not in live
        assert "@everyone" not in live
        assert "<img" not in live


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (None, None),
        (MISSING, {"state": "missing", "updated_at": None, "reasons": []}),
        (FRESH, {"state": "fresh", "updated_at": "2026-01-02T03:04:05Z", "reasons": []}),
        (
            STALE,
            {
                "state": "stale",
                "updated_at": "2026-01-02T03:04:05Z",
                "reasons": list(STALE.reasons),
            },
        ),
    ],
)
def test_run_json_contains_the_state_of_the_baseline(
    status: BaselineStatus | None,
    expected: object,
    finished: Callable[..., RunFinished],
    tmp_path: Path,
) -> None:
    shown("json", [finished(baseline=status)], tmp_path)

    run = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert run["baseline"] == expected


def test_run_json_contains_the_plan_and_the_places_of_libraries(
    planned: list[Event], plan: Plan, tmp_path: Path
) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\n", "utf-8")

    shown("json", planned, tmp_path)

    run = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert run["plan"]["skipped"][0]["reason"] == plan.skipped[0].reason
    assert run["places"]["torch"] == {"path": "requirements.txt", "line": 1}


def test_a_run_that_establishes_the_baseline_says_that_nothing_was_compared(
    finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    ended = finished(baseline=MISSING, verdict=Verdict.ESTABLISHED, exit_code=0)

    text = shown("summary", [ended], tmp_path)

    assert "The baseline was MISSING. This run establishes it, so nothing was compared" in text


def test_junit_skips_a_stale_baseline_and_passes_a_fresh_one(
    finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    def result(status: BaselineStatus) -> list[str]:
        shown("junit", [finished(baseline=status)], tmp_path)
        root = ET.parse(tmp_path / "junit.xml").getroot()
        (case,) = root.findall(".//testcase[@name='baseline']")
        return [child.tag for child in case]

    assert result(STALE) == result(MISSING) == ["skipped"]
    assert result(FRESH) == []


def _of(event: RunFinished, comparison: Comparison) -> Bucket:
    return next(bucket for bucket in event.buckets if bucket.comparison is comparison)


@pytest.mark.parametrize("name", ["summary", "sarif", "plain", "github", "terminal"])
def test_planted_defects_are_reported_to_readers(
    name: str, planned: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    detection = Detection(
        caught=tuple(PlantedDefect(DefectKind.VALUE, f"torch.f{number}") for number in range(44)),
        missed=tuple(PlantedDefect(DefectKind.GRADIENT, "torch.fft.fft") for _ in range(5)),
        uncalled=(PlantedDefect(DefectKind.CRASH, "torch.<b>never</b>"),),
    )

    text = shown(name, [*planned[:-1], finished(detection=detection)], tmp_path)

    assert "noticed 44 of 50 planted defects" in text
    assert "gradients of torch.fft.fft" in text
    assert "that it did not call" in text
    assert "excludes" not in text


def test_parts_without_planted_defects_are_a_caveat(
    planned: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    every = tuple(
        part(Shard(number, 3), detection=DETECTION if number == 1 else None) for number in (1, 2, 3)
    )

    run = finished(detection=DETECTION, parts=every)
    text = shown("plain", [*planned[:-1], run], tmp_path)

    assert "noticed 1 of 2 planted defects" in text
    assert "excludes 2 of 3 parts" in text


def test_a_minimum_without_planted_defects_is_a_caveat(
    planned: list[Event], finished: Callable[..., RunFinished], tmp_path: Path
) -> None:
    run = finished(parameters={"min_detection": 80})

    text = shown("plain", [*planned[:-1], run], tmp_path)

    assert "min-detection was not checked" in text
