"""What an upgrade changes: sections, APIs in use, and the forms in which reports show them."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from announcement_examples import API, BASE, HEAD, difference
from finding_examples import crash
from published_schemas import published_schema
from report_examples import bucket, run_of, started, target, write_report

from ciguard.domain.attribution import Attribution
from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.domain.events import DocumentationChecked, Event, RunFinished
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Evidence, Severity, Verdict
from ciguard.domain.plan import Place, Plan, PlanMode
from ciguard.reports import REPORTERS, Destination, receive_run, status_of
from ciguard.reports.summary import summary_blocks
from ciguard.reports.upgrade import section_of, upgrade_of, upgrade_to_json

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.findings import Finding

SENTENCE = "the documentation now also says “Results are <b>sorted</b>”"
ANNOUNCED = replace(
    difference("values", 1), severity=Severity.INFO, evidence=Evidence(announced=SENTENCE)
)
REMOVED = DocumentationFinding(
    check=DocumentationCheck.REMOVED,
    library="torch",
    api="torch.gone",
    parameter="",
    message="removed between 2.0 and 2.1",
    evidence="",
)
USES = Plan(
    mode=PlanMode.PULL_REQUEST,
    uses={API: (Place(path="model.py", line=7), Place(path="model.py", line=9))},
)


def found(number: int, finding: Finding, **changes: object) -> Bucket:
    fields = {
        "confirmation": Confirmation.CONFIRMED,
        "comparison": Comparison.NEW,
        "reproducer": f"reproducers/{number}.py",
        **changes,
    }
    return bucket(number, finding, **fields)


def events_of(*buckets: Bucket, plan: Plan | None = None) -> list[Event]:
    """Return the events of a run that compares two versions."""
    targets = (target(BASE, version="2.0"), target(HEAD, version="2.1"))
    *_, last = run_of(buckets)
    assert isinstance(last, RunFinished)
    called = {BASE: 90, HEAD: 80}
    last = replace(last, targets=targets, parameters={"base": [BASE]}, apis_exercised=called)
    return [started(plan), DocumentationChecked(library="torch", findings=(REMOVED,)), last]


def end_of(events: list[Event]) -> RunFinished:
    last = events[-1]
    assert isinstance(last, RunFinished)
    return last


@pytest.mark.parametrize(
    ("finding", "section"),
    [
        (ANNOUNCED, "announced"),
        (difference("values", 1), "regressions"),
        (difference("refused", 1), "regressions"),
        (replace(difference("refused", 1), severity=Severity.LOW), "stricter"),
        (replace(difference("accepted", 1), severity=Severity.INFO), "laxer"),
        (replace(difference("exception", 1), severity=Severity.LOW), "other"),
        (replace(difference("slower", 1), oracle="performance"), "performance"),
        (crash(), "regressions"),
    ],
)
def test_each_finding_has_a_section(finding: Finding, section: str) -> None:
    assert section_of(found(1, finding)) == section


def test_a_run_without_an_upgraded_library_has_none() -> None:
    end = end_of(events_of(found(1, ANNOUNCED)))
    same = tuple(replace(item, version="2.1") for item in end.targets)

    assert upgrade_of(replace(end, targets=same), None) is None
    assert upgrade_of(replace(end, parameters={}), None) is None
    assert upgrade_of(replace(end, verdict=Verdict.NOT_RUN), None) is None


def test_only_apis_in_use_are_included() -> None:
    other = replace(ANNOUNCED, api="torch.other")
    end = end_of(events_of(found(1, ANNOUNCED), found(2, other)))

    upgrade = upgrade_of(end, USES, [REMOVED])

    assert upgrade is not None
    assert upgrade.title == "What this upgrade changes for the APIs that you use"
    assert upgrade.versions_text == "torch 2.0 → 2.1"
    assert upgrade.counts_text == "Announced changes: 1"
    assert [entry.apis for entry in upgrade.sections["announced"]] == [(API,)]
    whole = upgrade_of(end, None, [REMOVED])
    assert whole is not None
    assert whole.counts_text == "Announced changes: 2, Removed APIs: 1"


def test_known_crashes_and_unconfirmed_differences_are_no_change() -> None:
    attributed = Attribution(head_shown=6, head_tried=6)
    buckets = [
        found(1, crash(), comparison=Comparison.KNOWN, attribution=attributed),
        found(2, difference("values", 1), confirmation=Confirmation.FLAKY),
        found(3, difference("values", 1), comparison=Comparison.NOT_RUN, count=0),
        found(4, crash()),
    ]
    upgrade = upgrade_of(end_of(events_of(*buckets)), None)

    assert upgrade is not None
    assert upgrade.counts_text == "No change found in 80 called APIs"
    new = upgrade_of(end_of(events_of(found(5, crash(), attribution=attributed))), None)
    assert new is not None
    assert new.counts_text == "Regressions: 1"


def test_the_summary_quotes_the_sentence_and_names_script_and_uses(tmp_path: Path) -> None:
    end = end_of(events_of(found(1, ANNOUNCED)))

    text = "\n".join(summary_blocks(end, USES, tmp_path))

    assert "## What this upgrade changes for the APIs that you use" in text
    assert "### Announced changes (1)" in text
    assert f"- `{API}` (used in `model.py:7` and 1 more): " in text
    assert f"Announced: `{SENTENCE}`" in text
    assert "Script: `reproducers/1.py`" in text


def test_an_entry_tells_the_behaviour_of_both_versions() -> None:
    evidence = Evidence(expected=f"{BASE}: returns 1", observed=f"{HEAD}: raises {'x' * 400}")
    end = end_of(events_of(found(1, replace(difference("refused", 1), evidence=evidence))))

    upgrade = upgrade_of(end, None)

    assert upgrade is not None
    (entry,) = upgrade.sections["regressions"]
    assert entry.text.startswith("before: returns 1; now: raises xxx")
    assert len(entry.text) < 240


def test_the_page_escapes_the_sentence(tmp_path: Path) -> None:
    page = write_report(events_of(found(1, ANNOUNCED)), tmp_path).read_text("utf-8")

    assert 'id="upgrade"' in page
    assert "Results are &lt;b&gt;sorted&lt;/b&gt;" in page
    assert "<b>sorted" not in page
    assert "torch.gone" in page


def test_the_form_in_json_has_every_section() -> None:
    end = end_of(events_of(found(1, ANNOUNCED)))

    encoded = json.loads(json.dumps(upgrade_to_json(upgrade_of(end, USES))))

    (described, _) = published_schema("run")["properties"]["upgrade"]["anyOf"]
    assert encoded.keys() == set(described["required"])
    assert encoded["versions"] == [{"library": "torch", "base": "2.0", "head": "2.1"}]
    assert [item["announced"] for item in encoded["announced"]] == [SENTENCE]
    assert upgrade_to_json(None) is None


def test_published_status_has_removed_apis(tmp_path: Path) -> None:
    events = events_of(found(1, ANNOUNCED))
    for name in ("json", "documentation"):
        reporter = REPORTERS.get(name)(Destination(folder=tmp_path, stream=io.StringIO()))
        for event in events:
            reporter.receive(event)

    status = status_of(receive_run(tmp_path), tmp_path)

    assert "Removed APIs (1)" in status.summary
    assert "torch.gone" in status.summary
