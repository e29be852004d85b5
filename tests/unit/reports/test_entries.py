"""Machine-readable lists have one entry per cause; known buckets do not hide new ones."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from finding_examples import call, crash
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.causes import Cause
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Severity, Verdict, cause_name
from ciguard.domain.policy import Policy
from ciguard.reports import REPORTERS, Destination
from ciguard.reports.entries import entries
from ciguard.reports.places import Places
from ciguard.reports.remarks import remarks
from ciguard.reports.sarif import sarif_text

if TYPE_CHECKING:
    from pathlib import Path

NEW, KNOWN, ACCEPTED = Comparison.NEW, Comparison.KNOWN, Comparison.ACCEPTED
CHECK = "0123456789abcdef"


def bucket(
    number: int, comparison: Comparison = NEW, *, cause: str = CHECK, api: str = ""
) -> Bucket:
    """Return a bucket that shares a cause with other buckets; without one if `cause` is empty."""
    shared = Cause(name=f"g1:{cause}", kind="failed check", text="apply.cc: dtype() == expected")
    return Bucket(
        fingerprint=f"v1:{number:016x}",
        grouping=(),
        finding=crash(case=call(api=api or f"torch.op{number}")),
        confirmation=Confirmation.CONFIRMED,
        comparison=comparison,
        cause=shared if cause else None,
    )


def ended(*buckets: Bucket) -> RunFinished:
    verdict = Verdict.NEW_FINDINGS
    return RunFinished(
        verdict=verdict, exit_code=1, summary="", targets=(), buckets=buckets, stages={}
    )


def sarif_results(*buckets: Bucket) -> list[dict[str, Any]]:
    log = json.loads(sarif_text(ended(*buckets), Places(), Policy()))
    results: list[dict[str, Any]] = log["runs"][0]["results"]
    return results


def written(reporter: str, file: str, folder: Path, *buckets: Bucket) -> str:
    made = REPORTERS.get(reporter)(Destination(folder=folder, stream=io.StringIO(), sources=folder))
    made.receive(ended(*buckets))
    made.close()
    return (folder / file).read_text("utf-8")


def test_buckets_of_one_cause_are_one_alert_that_names_them() -> None:
    (result,) = sarif_results(bucket(1), bucket(2), bucket(3))

    assert "2 more with the same cause: torch.op2, torch.op3." in result["message"]["text"]
    assert result["partialFingerprints"]["ciguard/v1"] == CHECK
    assert result["properties"]["buckets"] == [f"v1:{number:016x}" for number in (1, 2, 3)]


def test_alert_keeps_its_name_for_any_buckets_of_its_cause() -> None:
    names = {
        result["partialFingerprints"]["ciguard/v1"]
        for met in ([1], [2], [1, 2])
        for result in sarif_results(*(bucket(number, KNOWN) for number in met))
    }

    assert names == {CHECK}


def test_new_buckets_of_a_known_cause_are_a_separate_alert() -> None:
    new, known = sarif_results(bucket(1, KNOWN), bucket(2))

    assert (new["baselineState"], known["baselineState"]) == ("new", "unchanged")
    assert known["partialFingerprints"]["ciguard/v1"] == CHECK
    assert new["partialFingerprints"]["ciguard/v1"] == f"{2:016x}"


def test_accepted_bucket_does_not_suppress_others_of_its_cause() -> None:
    known, accepted = sarif_results(bucket(1, ACCEPTED), bucket(2, KNOWN))

    assert "suppressions" in accepted
    assert "suppressions" not in known


def test_gitlab_lists_a_cause_once(tmp_path: Path) -> None:
    text = written("code-quality", "gl-code-quality-report.json", tmp_path, bucket(1), bucket(2))

    (issue,) = json.loads(text)
    assert issue["description"].endswith("1 more with the same cause: torch.op2.")


def test_a_pull_request_shows_a_cause_at_one_line() -> None:
    (remark,) = remarks(ended(bucket(1), bucket(2)), Places(), Policy())

    assert "1 more with the same cause: torch.op2." in remark.message


def test_junit_has_one_test_per_cause_that_fails_if_any_bucket_fails(tmp_path: Path) -> None:
    buckets = [bucket(1), bucket(2), bucket(3, KNOWN), bucket(4, cause="")]

    suites = ET.fromstring(written("junit", "junit.xml", tmp_path, *buckets))

    cases = {case.get("name"): case for case in suites.iter("testcase")}
    assert set(cases) == {
        f"failed check: apply.cc: dtype() == expected [{CHECK[:8]}]",
        "torch.op4 signal [00000000]",
    }
    failures = [case.findtext("failure") or "" for case in cases.values()]
    assert [text.count("API: torch.op") for text in failures] == [2, 1]


def test_junit_skips_a_cause_without_new_buckets(tmp_path: Path) -> None:
    text = written("junit", "junit.xml", tmp_path, bucket(1, KNOWN), bucket(2, KNOWN))

    (skipped,) = ET.fromstring(text).iter("skipped")
    message = skipped.get("message") or ""
    assert message.startswith("KNOWN")
    assert message.endswith("1 more with the same cause: torch.op2.")


STANDINGS = st.sampled_from([NEW, KNOWN, ACCEPTED, Comparison.NOT_RUN])
CAUSES = st.sampled_from(["", CHECK, CHECK[::-1]])


@given(st.lists(st.tuples(STANDINGS, CAUSES), max_size=12))
def test_every_bucket_is_in_one_entry_and_no_two_entries_have_one_name(
    drawn: list[tuple[Comparison, str]],
) -> None:
    buckets = [bucket(number, status, cause=cause) for number, (status, cause) in enumerate(drawn)]

    made = entries(buckets)

    held = Counter(each.fingerprint for entry in made for each in entry.buckets)
    assert held == Counter(each.fingerprint for each in buckets)
    assert len({entry.fingerprint for entry in made}) == len(made)
    for entry in made:
        assert len({cause_name(each) for each in entry.buckets}) == 1
        assert len({each.comparison is NEW for each in entry.buckets}) == 1


def test_most_severe_bucket_of_an_entry_is_shown() -> None:

    mild = replace(bucket(1), finding=replace(bucket(1).finding, severity=Severity.LOW))

    (entry,) = entries([mild, bucket(2)])

    assert entry.most_severe.fingerprint == bucket(2).fingerprint
