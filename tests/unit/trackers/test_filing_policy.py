from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from baseline_examples import sighting
from finding_examples import call, crash

from ciguard.baseline import Records, State, establish, with_issues
from ciguard.domain import Action, Bucket, Comparison, Confirmation, Policy, Rule, Severity
from ciguard.trackers import Context, FilingRules, LocalTracker, Plan, carry_out, plan, report
from ciguard.trackers.body import ROLL_UP
from ciguard.triage import Buckets

if TYPE_CHECKING:
    from pathlib import Path

RULES = FilingRules(cap=2)


def bucket(
    api: str = "torch.fold",
    *,
    comparison: Comparison = Comparison.NEW,
    confirmation: Confirmation = Confirmation.CONFIRMED,
    severity: Severity = Severity.CRITICAL,
) -> Bucket:
    made = Buckets().add(replace(crash(case=call(api=api)), severity=severity))
    return replace(made, comparison=comparison, confirmation=confirmation)


def decided(*buckets: Bucket, before: Records | None = None, **options: bool) -> Plan:
    known = before or {}
    return plan(buckets, before=known, after=known, rules=RULES, **options)


def test_a_new_confirmed_bucket_is_filed() -> None:
    made = bucket()

    assert decided(made) == Plan(opened=(made,))


def test_what_is_flaky_pending_accepted_or_harmless_is_not_filed() -> None:
    buckets = (
        bucket("torch.a", confirmation=Confirmation.FLAKY, comparison=Comparison.FLAKY),
        bucket("torch.b", confirmation=Confirmation.PENDING),
        bucket("torch.c", comparison=Comparison.ACCEPTED),
        bucket("torch.d", severity=Severity.LOW),
        bucket("torch.e", comparison=Comparison.NOT_RUN),
    )

    assert decided(*buckets) == Plan()


def test_the_policy_says_what_is_filed() -> None:
    slight, grave = bucket("torch.d", severity=Severity.LOW), bucket("torch.e")
    rules = (Rule("torch.d", Action.FILE), Rule("torch.e", Action.REPORT))

    chosen = plan(
        (slight, grave),
        before={},
        after={},
        rules=FilingRules(policy=Policy(rules=rules)),
    )

    assert chosen == Plan(opened=(slight,))


def test_beyond_the_cap_buckets_go_on_the_list() -> None:
    buckets = tuple(bucket(f"torch.f{n}") for n in range(5))

    assert decided(*buckets) == Plan(opened=buckets[:2], listed=buckets[2:])


def test_the_run_that_establishes_the_baseline_files_nothing_but_the_list() -> None:
    made = bucket()

    assert decided(made, establishes=True) == Plan(listed=(made,))


def test_the_run_that_establishes_the_baseline_files_up_to_the_cap_when_asked() -> None:
    made = bucket()
    rules = FilingRules(cap=2, file_first_run=True)

    chosen = plan([made], before={}, after={}, rules=rules, establishes=True)

    assert chosen == Plan(opened=(made,))


def test_a_known_bucket_is_filed_once_and_shows_its_latest_evidence() -> None:
    known = bucket(comparison=Comparison.KNOWN)
    filed = with_issues(establish([known], sighting()), {known.fingerprint: "1"})

    assert decided(known, before=filed) == Plan(refreshed=(known,))
    assert decided(known, before=establish([known], sighting())) == Plan(listed=(known,))


def _fixed(records: Records) -> Records:
    return {
        name: replace(record, decision=replace(record.decision, state=State.FIXED))
        for name, record in records.items()
    }


def test_a_regression_reopens_its_issue() -> None:
    made = bucket()
    filed = with_issues(establish([made], sighting()), {made.fingerprint: "1"})

    assert decided(made, before=_fixed(filed)) == Plan(reopened=(made,))


def test_an_issue_is_closed_when_its_bucket_becomes_fixed_and_only_then() -> None:
    made = bucket()
    filed = with_issues(establish([made], sighting()), {made.fingerprint: "1"})

    became = plan([], before=filed, after=_fixed(filed), rules=RULES)
    stayed = plan([], before=_fixed(filed), after=_fixed(filed), rules=RULES)

    assert became == Plan(closed=(made.fingerprint,))
    assert stayed == Plan()


def test_a_plan_is_carried_out_and_doing_it_again_makes_no_second_issue(tmp_path: Path) -> None:
    tracker = LocalTracker(tmp_path)
    one, other = bucket("torch.a"), bucket("torch.b")
    chosen = Plan(opened=(one,), listed=(other,))

    def report_of(made: Bucket) -> object:
        return report(made, Context())

    first = carry_out(chosen, tracker, report_of=report_of)  # type: ignore[arg-type]
    second = carry_out(chosen, tracker, report_of=report_of)  # type: ignore[arg-type]

    assert first == second == {one.fingerprint: tracker.find(one.fingerprint).number}  # type: ignore[union-attr]
    assert len(list(tmp_path.glob("*.md"))) == 2


def test_closing_reopening_and_an_empty_list_reach_the_tracker(tmp_path: Path) -> None:
    tracker = LocalTracker(tmp_path)
    made = bucket()

    def state(chosen: Plan) -> tuple[bool, bool]:
        carry_out(chosen, tracker, report_of=lambda one: report(one, Context()))
        issue, listing = tracker.find(made.fingerprint), tracker.find(ROLL_UP)
        assert issue is not None
        assert listing is not None
        return issue.is_open, listing.is_open

    assert state(Plan(opened=(made,), listed=(made,))) == (True, True)
    assert state(Plan(closed=(made.fingerprint,))) == (False, False)
    assert state(Plan(reopened=(made,), listed=(made,))) == (True, True)
