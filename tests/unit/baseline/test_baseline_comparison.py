from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from baseline_examples import NAMES, record, record_sets, sighting
from hypothesis import given

from ciguard.baseline import (
    BaselineRecord,
    Exercised,
    Records,
    State,
    accept,
    compare,
    establish,
    find_record,
    known_to,
    merge,
    update,
    with_issues,
)
from ciguard.baseline.comparison import is_regression
from ciguard.baseline.record import bucket_of
from ciguard.domain.findings import Bucket, Comparison, Confirmation, PairKind
from ciguard.domain.outcomes import Crashed, Passed, Rejected, Stage
from ciguard.trackers.status_changes import evidence

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Outcome

ONE, OTHER = NAMES[1], NAMES[2]
TARGET = "torch==2.13.0"
REPLAYED = Exercised(replayed={ONE: frozenset({TARGET})})


def met(name: str = ONE, confirmation: Confirmation = Confirmation.CONFIRMED) -> Bucket:
    bucket = bucket_of(record(name), Comparison.NEW)
    return replace(bucket, count=1, confirmation=confirmation)


def baseline(*records: BaselineRecord) -> dict[str, BaselineRecord]:
    return {item.fingerprint: item for item in records}


def verdicts(compared: list[Bucket]) -> dict[str, Comparison]:
    return {bucket.fingerprint: bucket.comparison for bucket in compared}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ((), Comparison.NEW),
        ((record(ONE),), Comparison.KNOWN),
        ((record(ONE, state=State.ACCEPTED),), Comparison.ACCEPTED),
        ((record(ONE, state=State.FLAKY),), Comparison.KNOWN),
        ((record(ONE, state=State.FIXED),), Comparison.NEW),
        ((replace(record(NAMES[3]), aliases=(ONE,)),), Comparison.KNOWN),
    ],
)
def test_a_met_bucket_is_compared_with_its_record(
    records: tuple[BaselineRecord, ...], expected: Comparison
) -> None:
    assert verdicts(compare([met()], baseline(*records), Exercised())) == {ONE: expected}


def test_what_did_not_reproduce_is_flaky_whatever_is_known() -> None:
    flaky = met(confirmation=Confirmation.FLAKY)

    assert verdicts(compare([flaky], {}, Exercised())) == {ONE: Comparison.FLAKY}
    assert verdicts(compare([flaky], baseline(record(ONE)), REPLAYED)) == {ONE: Comparison.FLAKY}


@pytest.mark.parametrize(
    ("exercised", "expected"),
    [
        (REPLAYED, Comparison.FIXED),
        (Exercised(), Comparison.NOT_RUN),
        (Exercised(replayed={OTHER: frozenset({TARGET})}), Comparison.NOT_RUN),
        (Exercised(replayed={ONE: frozenset({"torch==2.12.0"})}), Comparison.NOT_RUN),
    ],
)
def test_an_unmet_bucket_is_fixed_only_where_it_was_looked_for(
    exercised: Exercised, expected: Comparison
) -> None:
    assert verdicts(compare([], baseline(record(ONE)), exercised)) == {ONE: expected}


def test_a_bucket_that_could_live_on_another_target_is_not_fixed() -> None:
    two_targets = replace(record(ONE), targets=(TARGET, "torch==2.14.0"))

    assert verdicts(compare([], baseline(two_targets), REPLAYED)) == {ONE: Comparison.NOT_RUN}


def test_fixed_and_flaky_records_that_were_not_met_are_not_mentioned() -> None:
    records = baseline(record(ONE, state=State.FIXED), record(OTHER, state=State.FLAKY))

    assert compare([], records, REPLAYED) == []


def run(records: Records, *buckets: Bucket, day: int) -> Records:
    return update(records, compare(buckets, records, REPLAYED), sighting(day))


def test_three_clean_runs_fix_a_bucket_and_meeting_it_again_is_a_regression() -> None:
    records = establish([met()], sighting(1))

    states = []
    for day in (2, 3, 4):
        records = run(records, day=day)
        states.append(records[ONE].state)
    compared = compare([met()], records, REPLAYED)
    reopened = update(records, compared, sighting(5))

    assert states == [State.OPEN, State.OPEN, State.FIXED]
    assert is_regression(compared[0], records)
    assert reopened[ONE].state is State.OPEN
    assert reopened[ONE].decision.clean_runs == 0
    assert (reopened[ONE].first_seen, reopened[ONE].last_seen) == (sighting(1), sighting(5))


def test_a_sighting_between_clean_runs_starts_the_count_again() -> None:
    records = establish([met()], sighting(1))

    records = run(run(records, day=2), day=3)
    records = run(records, met(), day=4)
    records = run(run(records, day=5), day=6)

    assert records[ONE].state is State.OPEN
    assert records[ONE].decision.clean_runs == 2


def test_a_flaky_sighting_starts_the_count_again_too() -> None:
    records = run(run(establish([met()], sighting(1)), day=2), day=3)

    records = run(records, met(confirmation=Confirmation.FLAKY), day=4)

    assert records[ONE].state is State.OPEN
    assert records[ONE].decision.clean_runs == 0


def test_a_run_that_did_not_look_changes_nothing() -> None:
    records = establish([met()], sighting(1))

    assert update(records, compare([], records, Exercised()), sighting(2)) == records


def test_an_accepted_bucket_stays_accepted() -> None:
    records = accept(baseline(record(ONE)), ONE, because="by design", time=sighting(2).time)

    for day in range(3, 8):
        records = run(records, day=day)
    records = run(records, met(), day=9)

    assert records[ONE].state is State.ACCEPTED
    assert records[ONE].decision.because == "by design"


@pytest.mark.parametrize("day", [1, 2])
def test_what_is_accepted_by_a_clock_that_is_behind_outlives_the_other_copy(day: int) -> None:
    met_on_day_2 = establish([met()], sighting(2))
    copy = run(met_on_day_2, met(), day=2)

    accepted = accept(copy, ONE, because="by design", time=sighting(day).time)

    assert merge(met_on_day_2, accepted)[ONE].state is State.ACCEPTED
    assert [d.state for d in accepted[ONE].history] == [State.OPEN, State.ACCEPTED]


def test_what_was_flaky_and_is_confirmed_now_is_open() -> None:
    flaky = establish([met(confirmation=Confirmation.FLAKY)], sighting(1))

    assert flaky[ONE].state is State.FLAKY
    assert run(flaky, met(), day=2)[ONE].state is State.OPEN


def test_a_bucket_met_under_its_old_name_updates_its_record() -> None:
    renamed = replace(record(NAMES[3]), aliases=(ONE,))

    records = run(baseline(renamed), met(), day=5)

    assert list(records) == [NAMES[3]]
    assert records[NAMES[3]].last_seen == sighting(5)


def test_issues_are_remembered_by_any_name() -> None:
    renamed = replace(record(NAMES[3]), aliases=(ONE,))

    assert with_issues(baseline(renamed), {ONE: "7"})[NAMES[3]].issue == "7"
    assert find_record(baseline(renamed), ONE) == renamed


@given(record_sets, record_sets)
def test_merging_is_commutative(a: Records, b: Records) -> None:
    assert merge(a, b) == merge(b, a)


@given(record_sets, record_sets, record_sets)
def test_merging_is_associative(a: Records, b: Records, c: Records) -> None:
    assert merge(merge(a, b), c) == merge(a, merge(b, c))


@given(record_sets, record_sets)
def test_merging_is_idempotent(a: Records, b: Records) -> None:
    assert merge(a, a) == a
    assert merge(merge(a, b), b) == merge(a, b)


def test_of_two_issues_the_older_one_stays() -> None:
    one, other = replace(record(ONE), issue="9"), replace(record(ONE), issue="10")

    assert merge(baseline(one), baseline(other))[ONE].issue == "9"


def flaky(*, shown: int, tried: int) -> Bucket:
    return replace(met(confirmation=Confirmation.FLAKY), shown=shown, tried=tried)


def test_how_often_a_flaky_bucket_shows_is_added_up_over_runs() -> None:
    records = establish([flaky(shown=1, tried=2)], sighting(1))

    records = run(records, flaky(shown=2, tried=3), day=2)
    for showed in (True, False, False):
        compared = compare([], records, Exercised())
        records = update(records, compared, sighting(3), repeated={ONE: showed, OTHER: True})

    assert (records[ONE].flakes.shown, records[ONE].flakes.tried) == (4, 8)
    assert records[ONE].state is State.FLAKY


def test_nothing_is_counted_for_what_shows_every_time() -> None:
    records = update(baseline(record(ONE)), [], sighting(2), repeated={ONE: False})

    assert records == baseline(record(ONE))


def test_a_new_bucket_that_is_only_recorded_is_no_regression() -> None:
    assert not is_regression(met(), baseline(record(ONE)))
    assert is_regression(met(), baseline(record(ONE, state=State.FIXED)))


BASE, HEAD = "torch==2.13.0", "./torch-2.14.0.whl"


def shown_by(*targets: str, pair: PairKind = PairKind.NONE) -> Bucket:
    bucket = met()
    return replace(bucket, finding=replace(bucket.finding, targets=targets, pair=pair))


@pytest.mark.parametrize(
    ("bucket", "others", "expected"),
    [
        (shown_by(HEAD), (), Comparison.NEW),
        (shown_by(BASE, HEAD), (), Comparison.KNOWN),
        (shown_by(BASE), (), Comparison.KNOWN),
        (shown_by(HEAD), ((HEAD, BASE),), Comparison.KNOWN),
        (shown_by(BASE, HEAD, pair=PairKind.VERSION), (), Comparison.NEW),
        (shown_by(BASE, "torch==2.12.0", pair=PairKind.VERSION), (), Comparison.KNOWN),
    ],
)
def test_what_the_base_shows_too_is_known(
    bucket: Bucket, others: tuple[tuple[str, ...], ...], expected: Comparison
) -> None:
    base = (BASE, "torch==2.12.0")

    assert verdicts(known_to(base, [bucket], {ONE: set(others)})) == {ONE: expected}


def on_head(outcome: Outcome, *targets: str, **changes: Any) -> Bucket:
    """Return a bucket whose case ran on base and head."""
    bucket = shown_by(*targets, **changes)
    outcomes = {BASE: Crashed("SIGSEGV"), HEAD: outcome}
    return replace(bucket, finding=replace(bucket.finding, outcomes=outcomes))


@pytest.mark.parametrize(
    ("bucket", "others", "expected"),
    [
        (on_head(Rejected("ValueError", "no"), BASE), (), Comparison.FIXED),
        (on_head(Passed(b"1", 0.1), BASE), (), Comparison.FIXED),
        (on_head(Passed(b"1", 0.1), BASE), ((HEAD,),), Comparison.KNOWN),
        (on_head(Crashed("SIGABRT"), BASE), (), Comparison.KNOWN),
        (on_head(Rejected("TypeError", "no dtype", Stage.BUILD), BASE), (), Comparison.KNOWN),
        (on_head(Crashed("SIGSEGV"), HEAD), (), Comparison.NEW),
        (on_head(Passed(b"1", 0.1), BASE, HEAD, pair=PairKind.VERSION), (), Comparison.NEW),
        (shown_by(BASE), (), Comparison.KNOWN),
        (
            replace(on_head(Passed(b"1", 0.1), BASE), confirmation=Confirmation.PENDING),
            (),
            Comparison.KNOWN,
        ),
        (
            replace(on_head(Passed(b"1", 0.1), BASE), comparison=Comparison.KNOWN),
            (),
            Comparison.FIXED,
        ),
        (
            replace(on_head(Passed(b"1", 0.1), BASE), comparison=Comparison.ACCEPTED),
            (),
            Comparison.ACCEPTED,
        ),
    ],
)
def test_what_only_the_base_shows_is_fixed_where_its_case_ran_well_on_the_head(
    bucket: Bucket, others: tuple[tuple[str, ...], ...], expected: Comparison
) -> None:
    assert verdicts(known_to((BASE,), [bucket], {ONE: set(others)})) == {ONE: expected}


def test_a_known_bucket_has_its_issue_whether_it_was_met_or_not() -> None:
    records = with_issues(baseline(record(ONE)), {ONE: "17"})

    for buckets in ([met()], []):
        (found,) = compare(buckets, records, Exercised())
        assert found.issue == "17"


def test_the_base_changes_nothing_that_is_not_new() -> None:
    fixed = replace(shown_by(BASE), comparison=Comparison.FIXED)

    assert known_to((BASE,), [fixed], {}) == [fixed]
    assert known_to((), [shown_by(HEAD)], {}) == [shown_by(HEAD)]


LATER = "torch==2.14.0"


@pytest.mark.parametrize(
    ("exercised", "expected"),
    [
        # The project pins a newer release, and the case passes there.
        (Exercised(replayed={ONE: frozenset({LATER})}, targets=frozenset({LATER})), "fixed"),
        # The release that shows it is still among the targets, and did not come to run the case.
        (
            Exercised(replayed={ONE: frozenset({LATER})}, targets=frozenset({LATER, TARGET})),
            "not run",
        ),
        # What passes is no successor.
        *(
            (Exercised(replayed={ONE: frozenset({name})}, targets=frozenset({name})), "not run")
            for name in (
                "torch==2.12.0",
                "torch==2.14.0@cuda",
                "torch==2.14.0 compile",
                "torch==2.14.0 A=1",
                "torch==2.14.0 python3.12",
                "torch>=2.14.0",
                "torch==2.14.0 + numpy==2.0",
                "jax==2.14.0",
                "current[torch]",
                "no target",
            )
        ),
    ],
)
def test_a_release_that_is_run_no_more_is_followed_by_a_newer_one(
    exercised: Exercised, expected: str
) -> None:
    (found,) = compare([], baseline(record(ONE)), exercised)

    assert found.comparison.value == expected


def test_a_difference_between_targets_has_no_successor() -> None:
    pair = record(ONE)
    pair = replace(pair, exhibit=replace(pair.exhibit, pair=PairKind.VERSION))
    exercised = Exercised(replayed={ONE: frozenset({LATER})}, targets=frozenset({LATER}))

    (found,) = compare([], baseline(pair), exercised)

    assert found.comparison is Comparison.NOT_RUN


def test_a_newer_pin_fixes_a_bucket_and_the_older_one_brings_it_back() -> None:
    records = baseline(record(ONE))
    exercised = Exercised(replayed={ONE: frozenset({LATER})}, targets=frozenset({LATER}))
    for number in range(2, 5):
        seen = replace(sighting(number), versions=((LATER, "2.14.0"),))
        records = dict(update(records, compare([], records, exercised), seen))

    assert records[ONE].state is State.FIXED
    assert [s.versions for s in records[ONE].decision.clean_on] == [((LATER, "2.14.0"),)] * 3
    said = evidence(records[ONE])
    assert "on torch==2.14.0 (version 2.14.0)" in said
    assert said.endswith(f" on {TARGET}.")
    (back,) = compare([met()], records, Exercised())
    assert is_regression(back, records)
