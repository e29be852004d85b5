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
    merge,
    records_with_issues,
    update,
    with_base_comparison,
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
def test_compare_assigns_the_comparison_by_the_record(
    records: tuple[BaselineRecord, ...], expected: Comparison
) -> None:
    assert verdicts(compare([met()], baseline(*records), Exercised())) == {ONE: expected}


def test_compare_of_a_flaky_bucket_is_flaky_for_any_record() -> None:
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
def test_compare_of_an_absent_bucket_is_fixed_only_if_exercised(
    exercised: Exercised, expected: Comparison
) -> None:
    assert verdicts(compare([], baseline(record(ONE)), exercised)) == {ONE: expected}


def test_compare_of_a_bucket_not_exercised_on_all_targets_is_not_run() -> None:
    two_targets = replace(record(ONE), targets=(TARGET, "torch==2.14.0"))

    assert verdicts(compare([], baseline(two_targets), REPLAYED)) == {ONE: Comparison.NOT_RUN}


def test_compare_omits_absent_fixed_and_flaky_records() -> None:
    records = baseline(record(ONE, state=State.FIXED), record(OTHER, state=State.FLAKY))

    assert compare([], records, REPLAYED) == []


def run(records: Records, *buckets: Bucket, day: int) -> Records:
    return update(records, compare(buckets, records, REPLAYED), sighting(day))


def test_update_fixes_a_bucket_after_three_clean_runs_and_reopening_is_a_regression() -> None:
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


def test_update_restarts_clean_runs_after_a_sighting() -> None:
    records = establish([met()], sighting(1))

    records = run(run(records, day=2), day=3)
    records = run(records, met(), day=4)
    records = run(run(records, day=5), day=6)

    assert records[ONE].state is State.OPEN
    assert records[ONE].decision.clean_runs == 2


def test_update_restarts_clean_runs_after_a_flaky_sighting() -> None:
    records = run(run(establish([met()], sighting(1)), day=2), day=3)

    records = run(records, met(confirmation=Confirmation.FLAKY), day=4)

    assert records[ONE].state is State.OPEN
    assert records[ONE].decision.clean_runs == 0


def test_update_after_a_run_that_exercised_nothing_is_unchanged() -> None:
    records = establish([met()], sighting(1))

    assert update(records, compare([], records, Exercised()), sighting(2)) == records


def test_update_keeps_an_accepted_bucket_accepted() -> None:
    records = accept(baseline(record(ONE)), ONE, because="by design", time=sighting(2).time)

    for day in range(3, 8):
        records = run(records, day=day)
    records = run(records, met(), day=9)

    assert records[ONE].state is State.ACCEPTED
    assert records[ONE].decision.because == "by design"


@pytest.mark.parametrize("day", [1, 2])
def test_accept_with_a_late_clock_survives_a_merge(day: int) -> None:
    met_on_day_2 = establish([met()], sighting(2))
    copy = run(met_on_day_2, met(), day=2)

    accepted = accept(copy, ONE, because="by design", time=sighting(day).time)

    assert merge(met_on_day_2, accepted)[ONE].state is State.ACCEPTED
    assert [d.state for d in accepted[ONE].history] == [State.OPEN, State.ACCEPTED]


def test_update_opens_a_flaky_bucket_that_is_confirmed() -> None:
    flaky = establish([met(confirmation=Confirmation.FLAKY)], sighting(1))

    assert flaky[ONE].state is State.FLAKY
    assert run(flaky, met(), day=2)[ONE].state is State.OPEN


def test_update_finds_the_record_by_an_alias() -> None:
    renamed = replace(record(NAMES[3]), aliases=(ONE,))

    records = run(baseline(renamed), met(), day=5)

    assert list(records) == [NAMES[3]]
    assert records[NAMES[3]].last_seen == sighting(5)


def test_with_issues_finds_records_by_any_name() -> None:
    renamed = replace(record(NAMES[3]), aliases=(ONE,))

    assert records_with_issues(baseline(renamed), {ONE: "7"})[NAMES[3]].issue == "7"
    assert find_record(baseline(renamed), ONE) == renamed


@given(record_sets, record_sets)
def test_merge_is_commutative(a: Records, b: Records) -> None:
    assert merge(a, b) == merge(b, a)


@given(record_sets, record_sets, record_sets)
def test_merge_is_associative(a: Records, b: Records, c: Records) -> None:
    assert merge(merge(a, b), c) == merge(a, merge(b, c))


@given(record_sets, record_sets)
def test_merge_is_idempotent(a: Records, b: Records) -> None:
    assert merge(a, a) == a
    assert merge(merge(a, b), b) == merge(a, b)


def test_merge_keeps_the_older_issue() -> None:
    first, second = replace(record(ONE), issue="9"), replace(record(ONE), issue="10")

    assert merge(baseline(first), baseline(second))[ONE].issue == "9"


def flaky(*, shown: int, tried: int) -> Bucket:
    return replace(met(confirmation=Confirmation.FLAKY), shown=shown, tried=tried)


def test_update_adds_up_repetitions_of_a_flaky_bucket() -> None:
    records = establish([flaky(shown=1, tried=2)], sighting(1))

    records = run(records, flaky(shown=2, tried=3), day=2)
    for showed in (True, False, False):
        compared = compare([], records, Exercised())
        records = update(records, compared, sighting(3), repeated={ONE: showed, OTHER: True})

    assert (records[ONE].flakes.shown, records[ONE].flakes.tried) == (4, 8)
    assert records[ONE].state is State.FLAKY


def test_update_counts_no_repetitions_of_a_confirmed_bucket() -> None:
    records = update(baseline(record(ONE)), [], sighting(2), repeated={ONE: False})

    assert records == baseline(record(ONE))


def test_is_regression_of_an_open_record_is_false() -> None:
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
def test_base_comparison_marks_buckets_of_the_base_as_known(
    bucket: Bucket, others: tuple[tuple[str, ...], ...], expected: Comparison
) -> None:
    base = (BASE, "torch==2.12.0")

    assert verdicts(with_base_comparison(base, [bucket], {ONE: set(others)})) == {ONE: expected}


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
def test_base_comparison_marks_buckets_of_only_the_base_as_fixed_if_the_head_ran_them(
    bucket: Bucket, others: tuple[tuple[str, ...], ...], expected: Comparison
) -> None:
    assert verdicts(with_base_comparison((BASE,), [bucket], {ONE: set(others)})) == {ONE: expected}


def test_compare_takes_the_issue_from_the_record() -> None:
    records = records_with_issues(baseline(record(ONE)), {ONE: "17"})

    for buckets in ([met()], []):
        (compared,) = compare(buckets, records, Exercised())
        assert compared.issue == "17"


def test_base_comparison_changes_only_new_buckets() -> None:
    fixed = replace(shown_by(BASE), comparison=Comparison.FIXED)

    assert with_base_comparison((BASE,), [fixed], {}) == [fixed]
    assert with_base_comparison((), [shown_by(HEAD)], {}) == [shown_by(HEAD)]


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
def test_compare_accepts_a_newer_release_in_place_of_a_removed_target(
    exercised: Exercised, expected: str
) -> None:
    (compared,) = compare([], baseline(record(ONE)), exercised)

    assert compared.comparison.value == expected


def test_compare_accepts_no_newer_release_for_a_difference_between_targets() -> None:
    pair = record(ONE)
    pair = replace(pair, representative=replace(pair.representative, pair=PairKind.VERSION))
    exercised = Exercised(replayed={ONE: frozenset({LATER})}, targets=frozenset({LATER}))

    (compared,) = compare([], baseline(pair), exercised)

    assert compared.comparison is Comparison.NOT_RUN


def test_update_with_a_newer_pin_fixes_a_bucket_and_an_older_one_reopens_it() -> None:
    records = baseline(record(ONE))
    exercised = Exercised(replayed={ONE: frozenset({LATER})}, targets=frozenset({LATER}))
    for number in range(2, 5):
        seen = replace(sighting(number), versions=((LATER, "2.14.0"),))
        records = dict(update(records, compare([], records, exercised), seen))

    assert records[ONE].state is State.FIXED
    assert [s.versions for s in records[ONE].decision.clean_on] == [((LATER, "2.14.0"),)] * 3
    text = evidence(records[ONE])
    assert "on torch==2.14.0 (version 2.14.0)" in text
    assert text.endswith(f" on {TARGET}.")
    (back,) = compare([met()], records, Exercised())
    assert is_regression(back, records)
