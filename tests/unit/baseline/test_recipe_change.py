"""A new recipe of the fingerprint: what was known by its old name stays known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from baseline_examples import record, sighting
from finding_examples import call, crash
from hypothesis import given
from hypothesis import strategies as st

from ciguard.baseline import (
    Exercised,
    State,
    accept,
    compare,
    current,
    establish,
    find_record,
    merge,
    update,
)
from ciguard.baseline.comparison import is_regression
from ciguard.baseline.store import FolderStore
from ciguard.domain.findings import Bucket, Comparison, Confirmation
from ciguard.domain.values import LiteralValue
from ciguard.triage import Buckets, fingerprint
from ciguard.triage.fingerprint import RECIPES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.baseline import Records
    from ciguard.domain.findings import Finding
    from ciguard.triage.fingerprint import Grouping

CHECK = "F0000 00:00:1.5 1 a.cc:1] Check failed: {} > 0 (1 vs. 2)"


def by_api_and_symptom_of(finer: Callable[[Finding], Grouping]) -> Callable[[Finding], Grouping]:
    """Return coarser ingredients: operator and symptom without the message."""
    return lambda finding: tuple(
        pair for pair in finer(finding) if pair[0] in {"library", "api", "symptom"}
    )


by_api_and_symptom = by_api_and_symptom_of(RECIPES["v1"])


def met(expression: str = "x") -> Finding:
    return crash(CHECK.format(expression), cause="SIGABRT")


def buckets_of(*findings: Finding) -> list[Bucket]:
    buckets = Buckets()
    for finding in findings:
        buckets.add(finding)
    return [replace(b, confirmation=Confirmation.CONFIRMED) for b in buckets.sorted()]


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setitem(RECIPES, "v2", by_api_and_symptom)
    return monkeypatch


def after_upgrade(known: Records, finding: Finding, **kwargs: int) -> tuple[Bucket, Records]:
    (now,) = compare(buckets_of(finding), known, Exercised())
    return now, update(known, [now], sighting(kwargs.get("day", 2)))


def test_fingerprint_has_older_keys_as_aliases(upgrade: pytest.MonkeyPatch) -> None:
    newest = fingerprint(met())
    upgrade.delitem(RECIPES, "v2")
    oldest = fingerprint(met())

    assert newest.key.startswith("v2:")
    assert newest.aliases == (oldest.key,)
    assert oldest.aliases == ()


def test_known_bucket_stays_known_under_its_new_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FolderStore(tmp_path / "baseline")
    known = store.save(establish(buckets_of(met()), sighting(1)))
    (old_name,) = known
    monkeypatch.setitem(RECIPES, "v2", by_api_and_symptom)

    now, updated = after_upgrade(known, met())
    stored = store.save(updated)

    assert now.comparison is Comparison.KNOWN
    assert list(current(stored)) == [now.fingerprint], "the old name is an alias only"
    assert stored[now.fingerprint].aliases == (old_name,)
    assert stored[now.fingerprint].first_seen == sighting(1)
    assert store.load() == stored
    assert find_record(stored, old_name) == stored[now.fingerprint]


def test_accepted_bucket_stays_accepted_under_its_new_fingerprint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = establish(buckets_of(met()), sighting(1))
    known = accept(known, next(iter(known)), because="by design", time="2026-01-01T12:00:00Z")
    monkeypatch.setitem(RECIPES, "v2", by_api_and_symptom)

    now, updated = after_upgrade(known, met())

    assert now.comparison is Comparison.ACCEPTED
    assert updated[now.fingerprint].decision.because == "by design"


def test_fixed_bucket_is_a_regression_under_its_new_fingerprint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = establish(buckets_of(met()), sighting(1))
    fixed = {
        name: replace(r, decision=replace(r.decision, state=State.FIXED))
        for name, r in known.items()
    }
    monkeypatch.setitem(RECIPES, "v2", by_api_and_symptom)

    now, _ = after_upgrade(fixed, met())

    assert now.comparison is Comparison.NEW
    assert is_regression(now, fixed)


def test_records_merged_by_the_new_recipe_become_one(monkeypatch: pytest.MonkeyPatch) -> None:
    known = establish(buckets_of(met("x"), met("y")), sighting(1))
    monkeypatch.setitem(RECIPES, "v2", by_api_and_symptom)
    (both,) = buckets_of(met("x"), met("y"))

    compared = compare([both], known, Exercised())
    updated = merge(known, update(known, compared, sighting(2)))

    assert [b.comparison for b in compared] == [Comparison.KNOWN], "none of the two is left over"
    assert list(current(updated)) == [both.fingerprint]
    assert set(updated[both.fingerprint].aliases) == set(known)


def test_buckets_split_by_the_new_recipe_are_known_and_stay_separate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fine = dict(RECIPES)["v1"]
    monkeypatch.setitem(RECIPES, "v1", by_api_and_symptom_of(fine))
    known = establish(buckets_of(met("x")), sighting(1))
    monkeypatch.setitem(RECIPES, "v2", fine)
    parted = buckets_of(met("x"), met("y"))

    compared = compare(parted, known, Exercised())
    updated = merge(known, update(known, compared, sighting(2)))
    again = update(updated, compare(parted, updated, Exercised()), sighting(3))

    assert [bucket.comparison for bucket in compared] == [Comparison.KNOWN, Comparison.KNOWN]
    assert set(current(updated)) == {bucket.fingerprint for bucket in parted}
    assert set(current(again)) == {bucket.fingerprint for bucket in parted}


@pytest.mark.usefixtures("upgrade")
def test_bucket_unknown_to_all_recipes_is_new() -> None:
    known = {"v1:" + "1" * 16: record("v1:" + "1" * 16)}
    finding = crash(CHECK.format("z"), cause="SIGABRT", case=call(LiteralValue(1), api="torch.f"))

    (now, _unmet) = sorted(
        compare(buckets_of(finding), known, Exercised()), key=lambda b: b.comparison.value
    )

    assert now.comparison is Comparison.NEW


generations = st.lists(
    st.sampled_from(
        [
            record("v1:" + "1" * 16, day=1),
            record("v1:" + "1" * 16, day=3, state=State.ACCEPTED),
            replace(record("v2:" + "2" * 16, day=2), aliases=("v1:" + "1" * 16,)),
            replace(record("v2:" + "3" * 16, day=2), aliases=("v1:" + "1" * 16,)),
            replace(record("v3:" + "4" * 16), aliases=("v2:" + "2" * 16,)),
        ]
    ),
    max_size=3,
).map(lambda items: {item.fingerprint: item for item in items})


@given(generations, generations, generations)
def test_merge_of_records_of_several_recipes_is_order_independent(
    first: Records, second: Records, third: Records
) -> None:
    assert merge(first, second) == merge(second, first)
    assert merge(merge(first, second), third) == merge(first, merge(second, third))
    assert merge(merge(first, second), second) == merge(first, second)
