from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finding_examples import crash
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from ciguard.domain.baseline_status import BaselineState, BaselineStatus
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Verdict
from ciguard.domain.plan import Place, Plan, PlanMode
from ciguard.domain.policy import FindingClass, Policy
from ciguard.reports import sarif
from ciguard.reports.places import Places
from ciguard.reports.sarif import sarif_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

SCHEMA = Path(__file__).parents[2] / "examples" / "schemas" / "sarif-2.1.0.json"
VALIDATOR = Draft4Validator(json.loads(SCHEMA.read_text("utf-8")))
NOWHERE = Places()


def run_of(event: RunFinished, places: Places = NOWHERE) -> Any:
    """Return the only run of the file, after checking that the file is valid."""
    log = json.loads(sarif_text(event, places, Policy()))
    assert [error.message[:200] for error in VALIDATOR.iter_errors(log)] == []
    assert len(log["runs"]) == 1
    return log["runs"][0]


def results(event: RunFinished, places: Places = NOWHERE) -> dict[str, Any]:
    """Return results by the first digits of their fingerprint."""
    sarif_results = run_of(event, places)["results"]
    return {item["partialFingerprints"]["ciguard/v1"][:8]: item for item in sarif_results}


def ended(*buckets: Bucket) -> RunFinished:
    return RunFinished(
        verdict=Verdict.NEW_FINDINGS,
        exit_code=1,
        summary="",
        targets=(),
        buckets=buckets,
        stages={},
    )


def bucket(number: int = 1, **changes: Any) -> Bucket:
    found = crash()
    changed = {key: changes.pop(key) for key in ("message", "api", "library") if key in changes}
    return replace(
        Bucket(
            fingerprint=f"v1:{number:08x}00000000",
            grouping=(),
            finding=replace(found, **changed),
            confirmation=Confirmation.CONFIRMED,
        ),
        **changes,
    )


def test_sarif_results_are_the_new_and_the_unfixed_buckets(
    finished: Callable[..., RunFinished],
) -> None:
    sarif_results = results(finished())

    states = {name: item["baselineState"] for name, item in sarif_results.items()}
    assert states["abcd0001"] == states["abcd0002"] == states["abcd0004"] == "new"
    assert states["abcd0003"] == states["abcd0007"] == "unchanged"
    assert not {"abcd0005", "abcd0006"} & set(states)  # fixed, flaky
    assert len(sarif_results) == 14


def test_unconfirmed_bucket_is_not_a_result() -> None:
    assert results(ended(bucket(confirmation=Confirmation.PENDING))) == {}


def test_accepted_bucket_is_suppressed_in_sarif() -> None:
    (sarif_results,) = results(ended(bucket(comparison=Comparison.ACCEPTED))).values()

    assert sarif_results["suppressions"] == [{"kind": "external", "status": "accepted"}]


def test_sarif_level_follows_the_policy(
    finished: Callable[..., RunFinished],
) -> None:
    sarif_results = results(finished())

    assert sarif_results["abcd0001"]["level"] == "error"
    assert sarif_results["abcd0004"]["level"] == "note"


def test_only_security_relevant_crashes_have_a_security_severity() -> None:
    rules = run_of(ended())["tool"]["driver"]["rules"]

    graded = {item["id"]: item["properties"].get("security-severity") for item in rules}
    assert graded.pop("security-crash") == "8.0"
    assert set(graded.values()) == {None}
    assert [item["id"] for item in rules] == [kind.value for kind in FindingClass]
    assert all(item["help"]["text"] and item["fullDescription"]["text"] for item in rules)
    assert max(len(item["properties"]["tags"]) for item in rules) <= 20


def test_a_result_is_at_every_use_of_the_api_and_at_the_requirement_that_changed(
    finished: Callable[..., RunFinished], plan: Plan
) -> None:
    sarif_results = results(finished(), Places(plan=plan))["abcd0001"]

    places = [item["physicalLocation"] for item in sarif_results["locations"]]
    assert [(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places] == [
        ("model/net.py", 12),
        ("model/old%20net.py", 7),
        ("requirements.txt", 3),
    ]


def test_sarif_result_always_has_a_location() -> None:
    (sarif_results,) = results(ended(bucket())).values()

    assert sarif_results["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "ciguard.toml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1},
    }


def test_buckets_at_one_line_are_separate_alerts() -> None:
    sarif_results = results(ended(bucket(1), bucket(2)))

    hashes = {
        item["partialFingerprints"]["primaryLocationLineHash"] for item in sarif_results.values()
    }
    assert hashes == {"0000000100000000:1", "0000000200000000:1"}


def test_the_same_run_gives_the_same_file(finished: Callable[..., RunFinished]) -> None:
    texts = {sarif_text(finished(), NOWHERE, Policy()) for _ in range(3)}

    assert len(texts) == 1


def test_sarif_contains_the_caveats(finished: Callable[..., RunFinished], plan: Plan) -> None:
    stale = BaselineStatus(state=BaselineState.STALE, reasons=("it was never run on x",))

    (invocation,) = run_of(finished(baseline=stale), Places(plan=plan))["invocations"]

    warnings = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert warnings[0].startswith("The baseline is STALE: it was never run on x")
    assert any("no runner with a GPU is configured" in text for text in warnings)
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 1)


def test_sarif_of_a_run_without_verdict_is_not_successful() -> None:
    (invocation,) = run_of(replace(ended(), verdict=Verdict.NOT_RUN, exit_code=3))["invocations"]

    assert not invocation["executionSuccessful"]


def test_sarif_keeps_the_most_severe_results_up_to_githubs_limit(
    monkeypatch: pytest.MonkeyPatch, finished: Callable[..., RunFinished]
) -> None:
    monkeypatch.setattr(sarif, "MAX_RESULTS", 5)

    run = run_of(finished())

    (note,) = [
        item["message"]["text"]
        for item in run["invocations"][0]["toolExecutionNotifications"]
        if "omitted" in item["message"]["text"]
    ]
    assert note == "9 of 14 results are omitted: GitHub accepts no more."
    assert {item["properties"]["severity"] for item in run["results"]} == {"critical"}


def test_sarif_is_limited_to_githubs_compressed_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sarif, "MAX_BYTES", 100_000)
    rng = random.Random(0)
    buckets = [
        bucket(number, message="".join(chr(rng.randrange(0x4E00, 0x9FFF)) for _ in range(600)))
        for number in range(1, 301)
    ]

    text = sarif_text(ended(*buckets), NOWHERE, Policy())

    log = json.loads(text)["runs"][0]
    kept = len(log["results"])
    notes = [n["message"]["text"] for n in log["invocations"][0]["toolExecutionNotifications"]]
    assert len(gzip.compress(text.encode(), compresslevel=6)) <= 100_000
    assert 50 < kept < 300
    assert notes == [f"{300 - kept} of 300 results are omitted: GitHub accepts no more."]


TEXTS = st.text(max_size=80) | st.sampled_from(
    ["](javascript:alert(1))", "[a](0)", "{0}", "\ud800", "\x00", "%SRCROOT%", "/home/me/x.py: no"]
)


@given(message=TEXTS, api=TEXTS, library=TEXTS, path=TEXTS, line=st.integers(1, 2**31 - 1))
def test_no_text_of_a_library_or_plan_makes_the_file_invalid(
    message: str, api: str, library: str, path: str, line: int
) -> None:
    used = Plan(mode=PlanMode.BATCH, uses={api: (Place(path=path, line=line),)})

    (sarif_results,) = results(
        ended(bucket(message=message, api=api, library=library)), Places(plan=used)
    ).values()

    assert "](" not in sarif_results["message"]["text"]
    assert sarif_results["message"]["text"].isprintable()
    assert sarif_results["locations"]


def test_sarif_tool_links_to_its_page_if_the_page_is_known() -> None:
    page = "https://github.com/owner/ciguard"

    linked = json.loads(sarif_text(ended(), NOWHERE, Policy(), page=page))

    assert linked["runs"][0]["tool"]["driver"]["informationUri"] == page
    assert [error.message for error in VALIDATOR.iter_errors(linked)] == []
    assert "informationUri" not in run_of(ended())["tool"]["driver"]
