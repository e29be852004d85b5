from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from campaign_examples import ONE, bucket, crash, difference, member

from ciguard.baseline import Sighting, establish
from ciguard.baseline.store import FolderStore
from ciguard.campaign.budget import Budget
from ciguard.campaign.conclude import BaselineSnapshot, Conclusion, conclude, decide, load_baseline
from ciguard.campaign.frontier import Frontier
from ciguard.campaign.setup import summary
from ciguard.config import Config
from ciguard.domain.findings import Comparison, Confirmation, Severity, Verdict
from ciguard.domain.policy import Action, PolicyRule
from ciguard.domain.shards import Shard
from ciguard.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.domain.findings import Bucket

CRASH = bucket(crash())
VALUES = bucket(difference())
FLAKY = CRASH.fingerprint
QUIET = (PolicyRule("*.*", Action.REPORT), PolicyRule("wrong-result", Action.FAIL))


@pytest.fixture
def conclusion(tmp_path: Path) -> Any:
    """Make the conclusion of a run over an established baseline."""

    def make(
        *,
        cases: int = 5,
        not_run: str = "",
        is_first: bool = False,
        interrupted: bool = False,
        functions: Mapping[str, str] = MappingProxyType({}),
        **settings: Any,
    ) -> Conclusion:
        one = member(ONE)
        one.tally.passed = cases
        one.not_run = not_run
        memory = BaselineSnapshot(
            store=FolderStore(tmp_path), records={}, is_first=is_first, frontier=Frontier(tmp_path)
        )
        return Conclusion(
            config=Config(**settings),
            baseline=memory,
            budget=Budget(10.0),
            targets=(summary(one),),
            script_targets={},
            replayed={},
            explored={},
            functions=functions,
            used=(),
            interrupted=interrupted,
        )

    return make


def of(found_bucket: Bucket, comparison: Comparison, **changes: Any) -> Bucket:
    return bucket(found_bucket.finding, comparison=comparison, **changes)


@pytest.mark.parametrize(
    ("settings", "buckets", "verdict", "code"),
    [
        ({}, [], Verdict.CLEAN, ExitCode.CLEAN),
        ({}, [CRASH], Verdict.NEW_FINDINGS, ExitCode.FINDINGS),
        ({}, [of(CRASH, Comparison.KNOWN)], Verdict.CLEAN, ExitCode.CLEAN),
        ({}, [of(CRASH, Comparison.ACCEPTED)], Verdict.CLEAN, ExitCode.CLEAN),
        ({}, [of(CRASH, Comparison.FIXED)], Verdict.CLEAN, ExitCode.CLEAN),
        ({}, [of(CRASH, Comparison.NOT_RUN)], Verdict.CLEAN, ExitCode.CLEAN),
        ({}, [of(CRASH, Comparison.FLAKY)], Verdict.CLEAN, ExitCode.CLEAN),
        ({}, [bucket(confirmation=Confirmation.PENDING)], Verdict.CLEAN, ExitCode.CLEAN),
        ({"fail_on": Severity.CRITICAL}, [VALUES], Verdict.CLEAN, ExitCode.CLEAN),
        ({"fail_on": Severity.HIGH}, [VALUES], Verdict.NEW_FINDINGS, ExitCode.FINDINGS),
        (
            {"rules": (PolicyRule("security-crash", Action.FILE),)},
            [CRASH],
            Verdict.CLEAN,
            ExitCode.CLEAN,
        ),
        ({"rules": QUIET}, [VALUES], Verdict.NEW_FINDINGS, ExitCode.FINDINGS),
        ({"is_first": True}, [CRASH], Verdict.ESTABLISHED, ExitCode.CLEAN),
        ({"cases": 0}, [], Verdict.NOT_RUN, ExitCode.INTERNAL),
        ({"cases": 0, "is_first": True}, [], Verdict.NOT_RUN, ExitCode.INTERNAL),
        ({"not_run": "it died"}, [], Verdict.NOT_RUN, ExitCode.INTERNAL),
        ({"not_run": "it died"}, [CRASH], Verdict.NOT_RUN, ExitCode.INTERNAL),
        ({"not_run": "it died", "is_first": True}, [CRASH], Verdict.NOT_RUN, ExitCode.INTERNAL),
        ({"shard": Shard(2, 4)}, [CRASH], Verdict.PART, ExitCode.CLEAN),
        ({"part": True, "is_first": True}, [CRASH], Verdict.PART, ExitCode.CLEAN),
        ({"shard": Shard(4, 4), "cases": 0}, [], Verdict.PART, ExitCode.CLEAN),
        ({"shard": Shard(2, 4), "not_run": "it died"}, [], Verdict.NOT_RUN, ExitCode.INTERNAL),
        ({"shard": Shard(2, 4), "interrupted": True}, [], Verdict.INTERRUPTED, 130),
        ({"interrupted": True}, [CRASH], Verdict.INTERRUPTED, ExitCode.INTERRUPTED),
        ({"interrupted": True, "cases": 0}, [], Verdict.INTERRUPTED, ExitCode.INTERRUPTED),
        ({"functions": {"f": "why"}}, [], Verdict.NOT_TESTED, ExitCode.INTERNAL),
        ({"functions": {"f": "why"}, "is_first": True}, [], Verdict.NOT_TESTED, ExitCode.INTERNAL),
        ({"functions": {"f": "why"}}, [CRASH], Verdict.NEW_FINDINGS, ExitCode.FINDINGS),
        ({"functions": {"f": "why", "g": ""}}, [], Verdict.CLEAN, ExitCode.CLEAN),
        ({"functions": {"f": "why"}, "shard": Shard(2, 4)}, [], Verdict.PART, ExitCode.CLEAN),
    ],
)
def test_a_run_has_the_verdict_and_exit_code_of_its_buckets(
    conclusion: Any,
    settings: dict[str, Any],
    buckets: list[Bucket],
    verdict: Verdict,
    code: ExitCode,
) -> None:
    decided = decide(conclusion(**settings), buckets)

    assert (decided.verdict, decided.exit_code) == (verdict, code)
    assert decided.buckets == tuple(buckets)


def test_the_summary_names_new_and_known_buckets_and_missing_targets(conclusion: Any) -> None:
    known = of(VALUES, Comparison.KNOWN)

    assert decide(conclusion(), [CRASH, known]).summary == (
        "1 new of severity medium or above, 1 known."
    )
    assert decide(conclusion(fail_on=Severity.CRITICAL), [VALUES]).summary == (
        "Nothing new that counts, 1 new below critical; 0 known."
    )
    assert decide(conclusion(rules=QUIET), [CRASH, VALUES]).summary == "1 new which count, 0 known."
    assert decide(conclusion(rules=QUIET), [CRASH]).summary == (
        "Nothing new that counts, 1 new that only get reported; 0 known."
    )
    assert f"Not run to the end on {ONE}" in decide(conclusion(not_run="died"), []).summary
    assert "1 new buckets so far" in decide(conclusion(interrupted=True), [CRASH]).summary


def test_without_a_stored_baseline_a_run_is_the_first(tmp_path: Path) -> None:
    memory = load_baseline(Config(baseline=tmp_path / "nothing"))

    assert memory.is_first
    assert (memory.fingerprints, memory.corpus()) == (frozenset(), [])


@pytest.mark.parametrize(
    ("replayed", "shown", "counted"),
    [
        ({}, (), (1, 3)),
        ({FLAKY: frozenset()}, (), (1, 3)),
        ({FLAKY: frozenset({ONE})}, (), (1, 4)),
        ({}, (FLAKY,), (2, 4)),
    ],
)
def test_the_replay_of_a_flaky_bucket_is_counted(
    conclusion: Any,
    tmp_path: Path,
    replayed: dict[str, frozenset[str]],
    shown: tuple[str, ...],
    counted: tuple[int, int],
) -> None:
    found_bucket = bucket(confirmation=Confirmation.FLAKY, shown=1, tried=3)
    store = FolderStore(tmp_path / "baseline")
    records = store.save(establish([found_bucket], Sighting(time="2026-01-31T23:59:00Z")))
    run = conclusion(out=tmp_path / "out")
    memory = replace(run.baseline, store=store, records=records)

    list(conclude(replace(run, baseline=memory, replayed=replayed, shown=shown), []))

    flakes = store.load()[FLAKY].flakes
    assert (flakes.shown, flakes.tried) == counted


def test_functions_that_were_not_tested_are_named_with_the_reason(conclusion: Any) -> None:
    alone = decide(conclusion(functions={"m.py:f": "x > 3 does not hold"}), [])
    some = decide(conclusion(functions={"m.py:f": "why", "m.py:g": ""}), [])

    assert alone.summary == (
        "No function was called with valid arguments. m.py:f: x > 3 does not hold."
    )
    assert some.summary.endswith(" NOT TESTED: 1 of 2 functions (m.py:f).")
