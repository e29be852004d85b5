from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from baseline_examples import sighting
from finding_examples import call, crash

from ciguard.baseline import Records, State, establish, records_with_issues
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Severity
from ciguard.domain.policy import Action, Policy, PolicyRule
from ciguard.trackers import FilingRules
from ciguard.trackers.groups import groups_of
from ciguard.trackers.policy import of_this_tracker, plan
from ciguard.triage import Buckets

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def aborted(api: str) -> Bucket:
    made = Buckets().add(crash(cause="SIGABRT", log="Check failed", case=call(api=api)))
    return replace(made, comparison=Comparison.NEW, confirmation=Confirmation.CONFIRMED)


def planned(
    buckets: Iterable[Bucket],
    *,
    before: Records,
    after: Records,
    rules: FilingRules = RULES,
    establishes: bool = False,
) -> dict[str, tuple[Bucket, ...]]:
    """Return the buckets of each pile that has any."""
    groups = groups_of(buckets, before=before, after=after)
    chosen = plan(groups, rules=rules, establishes=establishes)
    piles = {field.name: getattr(chosen, field.name) for field in fields(chosen)}
    return {
        name: tuple(replace(m.bucket, cause=None) for group in pile for m in group.members)
        for name, pile in piles.items()
        if pile
    }


def decided(
    *buckets: Bucket, before: Records | None = None, establishes: bool = False
) -> dict[str, tuple[Bucket, ...]]:
    known = before or {}
    return planned(buckets, before=known, after=known, establishes=establishes)


def test_new_confirmed_bucket_is_filed() -> None:
    made = bucket()

    assert decided(made) == {"opened": (made,)}


def test_flaky_pending_accepted_or_minor_bucket_is_not_filed() -> None:
    buckets = (
        bucket("torch.a", confirmation=Confirmation.FLAKY, comparison=Comparison.FLAKY),
        bucket("torch.b", confirmation=Confirmation.PENDING),
        bucket("torch.c", comparison=Comparison.ACCEPTED),
        bucket("torch.d", severity=Severity.LOW),
        bucket("torch.e", comparison=Comparison.NOT_RUN),
    )

    assert decided(*buckets) == {}


def test_policy_decides_which_buckets_are_filed() -> None:
    slight, grave = bucket("torch.d", severity=Severity.LOW), bucket("torch.e")
    rules = (PolicyRule("torch.d", Action.FILE), PolicyRule("torch.e", Action.REPORT))

    chosen = planned(
        (slight, grave),
        before={},
        after={},
        rules=FilingRules(policy=Policy(rules=rules)),
    )

    assert chosen == {"opened": (slight,)}


def test_buckets_beyond_the_cap_are_listed() -> None:
    buckets = tuple(bucket(f"torch.f{n}") for n in range(5))

    assert decided(*buckets) == {"opened": buckets[:2], "listed": buckets[2:]}


def test_establishing_run_files_only_the_roll_up_issue() -> None:
    made = bucket()

    assert decided(made, establishes=True) == {"listed": (made,)}


def test_establishing_run_files_up_to_the_cap_if_configured() -> None:
    made = bucket()
    rules = FilingRules(cap=2, file_first_run=True)

    chosen = planned([made], before={}, after={}, rules=rules, establishes=True)

    assert chosen == {"opened": (made,)}


def test_known_bucket_is_filed_once_and_then_refreshed() -> None:
    known = bucket(comparison=Comparison.KNOWN)
    filed = records_with_issues(establish([known], sighting()), {known.fingerprint: "1"})

    assert decided(known, before=filed) == {"refreshed": (known,)}
    assert decided(known, before=establish([known], sighting())) == {"listed": (known,)}


def _fixed(records: Records) -> Records:
    return {
        name: replace(record, decision=replace(record.decision, state=State.FIXED))
        for name, record in records.items()
    }


def test_regression_reopens_its_issue() -> None:
    made = bucket()
    filed = records_with_issues(establish([made], sighting()), {made.fingerprint: "1"})

    assert decided(made, before=_fixed(filed)) == {"reopened": (made,)}


def test_issue_is_closed_only_when_its_bucket_becomes_fixed() -> None:
    made = bucket()
    filed = records_with_issues(establish([made], sighting()), {made.fingerprint: "1"})

    became = planned([], before=filed, after=_fixed(filed), rules=RULES)
    stayed = planned([], before=_fixed(filed), after=_fixed(filed), rules=RULES)

    assert list(became) == ["closed"]
    assert [gone.fingerprint for gone in became["closed"]] == [made.fingerprint]
    assert stayed == {}


def test_unseen_bucket_without_an_issue_stays_listed() -> None:
    missed, gone = bucket(comparison=Comparison.NOT_RUN), bucket(comparison=Comparison.FIXED)
    known = establish([bucket()], sighting())

    assert decided(missed, before=known) == {"listed": (missed,)}
    assert decided(gone, before=known) == {"listed": (gone,)}
    assert decided(missed, before=records_with_issues(known, {missed.fingerprint: "1"})) == {}


def test_issue_of_another_tracker_is_ignored() -> None:
    known = establish([bucket()], sighting())
    elsewhere = records_with_issues(
        known, {bucket().fingerprint: "v1-0123456789abcdef-torch.fold.md"}
    )
    here = records_with_issues(known, {bucket().fingerprint: "12"})
    rules = FilingRules(numbered=True)

    assert of_this_tracker(elsewhere, rules) == known
    assert of_this_tracker(here, rules) == here
    assert of_this_tracker(elsewhere, FilingRules()) == elsewhere


def test_security_relevant_crashes_are_not_published() -> None:
    grave, plain = bucket("torch.fold"), aborted("torch.unfold")
    rules = FilingRules(withholds_security=True)

    chosen = planned((grave, plain), before={}, after={}, rules=rules)

    assert chosen == {"opened": (plain,), "withheld": (grave,)}


def test_policy_for_their_class_publishes_security_relevant_crashes() -> None:
    grave = bucket("torch.fold")
    policy = Policy(rules=(PolicyRule("security-crash", Action.FILE),))

    chosen = planned(
        (grave,), before={}, after={}, rules=FilingRules(withholds_security=True, policy=policy)
    )

    assert chosen == {"opened": (grave,)}


def test_policy_for_an_api_publishes_no_security_relevant_crash() -> None:
    policy = Policy(rules=(PolicyRule("torch.*", Action.FAIL),))

    chosen = planned(
        (bucket(),), before={}, after={}, rules=FilingRules(withholds_security=True, policy=policy)
    )

    assert chosen == {"withheld": (bucket(),)}


def test_unseen_crash_is_not_listed_because_it_may_be_security_relevant() -> None:
    before = establish((bucket(),), sighting())
    unmet = bucket(comparison=Comparison.NOT_RUN)
    forgotten = replace(unmet, finding=replace(unmet.finding, outcomes={}))
    rules = FilingRules(withholds_security=True)

    assert planned((forgotten,), before=before, after=before, rules=rules) == {}
