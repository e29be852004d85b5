"""How findings are attributed to planted defects."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from finding_examples import TARGET, call, crash
from planted_defects import PLANTABLE, Defect, Kind, Trace
from planted_recall import Row, recall_of, trace_of

from ciguard.domain.findings import Bucket, Confirmation, PairKind, Severity

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding

PLANTED = f"{TARGET} PLANTED_DEFECTS=0"
ROWS = {row.api: row for row in PLANTABLE}
ERF = "torch.erf"


def found(api: str, oracle: str, kind: str, *targets: str) -> Finding:
    pair = PairKind.ENVIRONMENT if oracle in {"differential", "performance"} else PairKind.NONE
    died = crash(case=call(api=api))
    return replace(died, oracle=oracle, kind=kind, targets=targets, pair=pair)


def bucket(finding: Finding, confirmation: Confirmation = Confirmation.CONFIRMED) -> Bucket:
    return Bucket(
        fingerprint=f"v1:{finding.api}{finding.oracle}{finding.kind}",
        grouping=(),
        finding=finding,
        confirmation=confirmation,
    )


WRONG = Defect(ROWS[ERF], Kind.VALUE)
DEADLY = Defect(ROWS[ERF], Kind.CRASH, "no elements")
UNEQUAL = bucket(found(ERF, "differential", "values", TARGET, PLANTED))


@pytest.mark.parametrize(
    ("oracle", "kind", "trace"),
    [
        ("differential", "values", Trace.RESULT),
        ("differential", "shape", Trace.RESULT),
        ("differential", "accepted", Trace.ACCEPTED),
        ("differential", "exception", Trace.EXCEPTION),
        ("metamorphic", "strided memory", Trace.RESULT),
        ("metamorphic", "arguments stay as they are", Trace.ARGUMENTS),
        ("metamorphic", "numeric gradient", Trace.GRADIENT),
        ("metamorphic", "batch reversed", Trace.RESULT),
        ("performance", "slower", Trace.TIME),
        ("performance", "more memory", None),
        ("performance", "leak", Trace.MEMORY),
        ("boundary", "accepted-illegal", Trace.ACCEPTED),
        ("crash", "signal", Trace.DEATH),
        ("hang", "hang", None),
    ],
)
def test_a_finding_shows_a_defect_in_one_way(oracle: str, kind: str, trace: Trace | None) -> None:
    assert trace_of(found(ERF, oracle, kind, PLANTED)) is trace


def test_of_two_defects_of_a_function_the_one_that_shows_so_is_found() -> None:
    recall = recall_of([UNEQUAL], [WRONG, DEADLY], planted=PLANTED)

    assert recall.found == {WRONG: [UNEQUAL], DEADLY: []}
    assert recall.missed == [DEADLY]


def test_a_finding_at_a_function_without_a_defect_is_misplaced() -> None:
    elsewhere = bucket(found("torch.cos", "differential", "values", TARGET, PLANTED))

    recall = recall_of([elsewhere], [WRONG], planted=PLANTED)

    assert recall.misplaced == [elsewhere]
    assert recall.missed == [WRONG]


def test_a_finding_that_no_defect_of_the_function_explains_is_told_apart() -> None:
    other = bucket(found(ERF, "differential", "exception", TARGET, PLANTED))

    recall = recall_of([other], [WRONG], planted=PLANTED)

    assert recall.unexplained == [other]
    assert recall.missed == [WRONG]


def test_what_torch_shows_without_the_defects_finds_none() -> None:
    everywhere = bucket(found(ERF, "metamorphic", "strided memory", TARGET, PLANTED))

    recall = recall_of([everywhere], [WRONG], planted=PLANTED)

    assert recall.own == [everywhere]
    assert recall.missed == [WRONG]


def test_what_was_not_confirmed_finds_nothing() -> None:
    pending = replace(UNEQUAL, confirmation=Confirmation.PENDING)

    recall = recall_of([pending], [WRONG], planted=PLANTED)

    assert recall.unsettled == [pending]
    assert recall.missed == [WRONG]


def test_rows_count_each_way_once_per_defect() -> None:
    strided = bucket(found(ERF, "metamorphic", "strided memory", PLANTED))

    recall = recall_of([UNEQUAL, UNEQUAL, strided], [WRONG, DEADLY], planted=PLANTED)

    ways = Counter({"differential: values": 1, "metamorphic: strided memory": 1})
    assert list(recall.rows()) == [
        Row(kind=Kind.VALUE, planted=1, found=1, failing=1, ways=ways),
        Row(kind=Kind.CRASH, planted=1, found=0, failing=0, ways=Counter()),
    ]


def test_what_is_too_slight_to_fail_a_check_is_found_all_the_same() -> None:
    slight = bucket(replace(UNEQUAL.finding, severity=Severity.INFO))

    (row,) = recall_of([slight], [WRONG], planted=PLANTED).rows()

    assert (row.found, row.failing) == (1, 0)
