from __future__ import annotations

from typing import TYPE_CHECKING

from campaign_examples import ONE, TWO, call

from ciguard.campaign.value_counts import ValueCounts
from ciguard.domain.outcomes import Crashed, Passed, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.case import Case

FINE, REFUSED, DEAD = Passed(b"[]", 0.1), Rejected("ValueError", ""), Crashed("SIGSEGV")
CELL = ("int", "negative")


class Kinds:
    """A level that knows one kind, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def of(self, case: Case) -> Iterator[tuple[str, str]]:
        assert case == call()
        self.asked += 1
        yield CELL


def test_calls_of_the_first_batches_are_counted_by_their_first_outcome() -> None:
    counts = ValueCounts(Kinds().of)

    counts.note([call()] * 3, {ONE: [FINE, REFUSED, FINE], TWO: [REFUSED, REFUSED, FINE]})

    table = counts.table
    assert (table.calls, table.drawn[CELL], table.passed[CELL]) == (3, 3, 2)


def test_few_of_the_later_batches_are_counted_and_all_crashes() -> None:
    kinds = Kinds()
    counts = ValueCounts(kinds.of)

    for _ in range(321):
        counts.note([call()], {ONE: [FINE], TWO: [FINE]})
    asked = kinds.asked
    counts.note([call()] * 2, {ONE: [DEAD, FINE], TWO: [DEAD, FINE]})

    assert asked < 20
    assert counts.table.calls == asked
    assert counts.table.crashed[CELL] == 1


def test_a_level_that_knows_no_kinds_counts_nothing() -> None:
    counts = ValueCounts()

    counts.note([call()], {ONE: [DEAD]})

    assert counts.table.calls == 0
    assert not counts.table.crashed
