"""Focus: the shares of a level's batches that APIs in focus and other APIs get."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord
from ciguard.levels import (
    Batch,
    IndexedLevel,
    Level,
    focus_shares,
    focused_level,
    globs_without_match,
)
from ciguard.levels.focus import ranked

if TYPE_CHECKING:
    from collections.abc import Sequence


def _records(*names: str) -> list[ApiRecord]:
    return [ApiRecord(api=name, kind=CallKind.FUNCTION, parameters=()) for name in names]


MANY = _records(*(f"lib.f{number:03}" for number in range(60)))


@dataclass
class _Plain:
    """A level without feedback that calls its APIs in turn."""

    apis: Sequence[ApiRecord]

    def cases(self, index: int) -> Batch:
        record = self.apis[index % len(self.apis)]
        return Batch(api=record.api, kind=record.kind, cases=())


def _plain(records: Sequence[ApiRecord], seed: int) -> Level:
    del seed
    return _Plain(records)


def _api_counts(level: Level, batches: int) -> Counter[str]:
    return Counter(level.cases(index).api for index in range(batches))


def test_apis_in_focus_get_seven_of_ten_batches_and_no_api_is_left_out() -> None:
    focus = ("lib.f007", "lib.f03?", "nothing.*")

    level, rounds = focused_level(_plain, MANY, 0, focus=focus)
    counts = _api_counts(level, 1000)

    inside = sum(count for api, count in counts.items() if api == "lib.f007" or "f03" in api)
    assert inside == 700
    assert len(_api_counts(level, rounds)) == len(MANY)


def test_the_first_apis_in_focus_get_as_many_batches_as_the_others_in_focus() -> None:
    focus = [record.api for record in MANY[:40]]

    level, rounds = focused_level(_plain, MANY, 0, focus=focus)
    counts = _api_counts(level, 2000)

    assert sum(counts[name] for name in focus[:8]) == pytest.approx(700, abs=5)
    assert sum(counts[name] for name in focus[8:]) == pytest.approx(700, abs=5)
    assert len(_api_counts(level, rounds)) == len(MANY)


@pytest.mark.parametrize("focus", [(), ("nothing.*",)])
def test_a_level_without_focus_is_the_plain_level(focus: tuple[str, ...]) -> None:
    level, rounds = focused_level(_plain, MANY, 0, focus=focus)

    assert isinstance(level, _Plain)
    assert (list(level.apis), rounds) == (MANY, 60)


def test_with_everything_in_focus_all_apis_are_called() -> None:
    level, rounds = focused_level(_plain, MANY, 0, focus=("*",))

    assert len(_api_counts(level, rounds)) == 60


def test_a_focus_keeps_the_order_of_its_globs() -> None:
    names = [record.api for record in ranked(MANY, ("lib.f05?", "lib.f001", "lib.f0*"))]

    assert names[:11] == [*(f"lib.f05{n}" for n in range(10)), "lib.f001"]
    assert len(names) == 60


def test_globs_that_match_nothing_are_reported() -> None:
    assert globs_without_match(MANY, ("lib.f001", "torch.*", "lib.*")) == ["torch.*"]


@given(st.integers(0, 300), st.sampled_from([3, 20]))
def test_a_batch_depends_on_its_index(index: int, count: int) -> None:
    focus = [record.api for record in MANY[:count]]

    busy, _ = focused_level(_plain, MANY, 0, focus=focus)
    for earlier in (index + 7, 0, index):
        busy.cases(earlier)
    fresh, _ = focused_level(_plain, MANY, 0, focus=focus)

    assert repr(busy.cases(index)) == repr(fresh.cases(index))
    assert isinstance(fresh, IndexedLevel)
    assert fresh.api_of(index) == busy.cases(index).api


@pytest.mark.parametrize(
    ("count", "weights"), [(0, [3]), (5, [7, 3]), (8, [7, 3]), (20, [3.5, 3.5, 3])]
)
def test_focus_shares_give_seven_of_ten_batches_to_the_focus(
    count: int, weights: list[float]
) -> None:
    shares = focus_shares(MANY, [record.api for record in MANY[:count]])

    assert [share.weight for share in shares] == weights
    assert [api for share in shares for api in share.apis] == [record.api for record in MANY]
    assert len(shares[0].apis) == (min(8, count) or len(MANY))
