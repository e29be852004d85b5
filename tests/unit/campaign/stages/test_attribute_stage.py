"""How much time attribution needs beyond its share, and what it tests beside exploring."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, TWO, bucket, crash, difference

from ciguard.campaign.budget import Budget
from ciguard.campaign.stages.attribute import Attribute
from ciguard.campaign.stages.attributing import Attributor
from ciguard.campaign.stages.trial import TOGETHER
from ciguard.domain.attribution import Attribution

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.campaign.state import CampaignState
    from ciguard.domain.findings import Bucket, Finding

DIFFERENCE = bucket(difference())
CRASH = bucket(crash(target=TWO))
SHARE_S = 6.0
"""Share of attribution in a budget of 100 s."""


def stage(
    *buckets: Bucket, base: tuple[str, ...] = (ONE,), known: Bucket | None = None
) -> Attribute:
    budget = Budget(100.0)
    budget.attributes = True
    state = SimpleNamespace(
        dispatcher=None,
        groups={},
        base=base,
        budget=budget,
        baseline=SimpleNamespace(fingerprints={known.fingerprint} if known else set()),
        collector=SimpleNamespace(
            by_severity=lambda: buckets,
            shown_on={one.fingerprint: {one.finding.targets} for one in buckets},
        ),
    )
    return Attribute(cast("CampaignState", state))


def test_differences_and_other_buckets_take_time_beyond_the_share() -> None:
    assert stage(*[DIFFERENCE] * 1000).overtime_s == pytest.approx(30.0 - SHARE_S)
    assert stage(*[CRASH] * 10).overtime_s == pytest.approx(15.0 - SHARE_S)


def test_few_buckets_fit_into_the_share() -> None:
    assert stage(*[DIFFERENCE] * 100, CRASH).overtime_s == 0


def test_buckets_that_are_not_attributed_take_no_time() -> None:
    counted = Attribution(head_shown=6, head_tried=6, base_shown=0, base_tried=206)
    done = replace(CRASH, attribution=counted)

    assert stage(*[CRASH] * 10, base=()).overtime_s == 0
    assert stage(*[CRASH] * 10, known=CRASH).overtime_s == 0
    assert stage(*[done] * 10).overtime_s == 0


def test_a_bucket_of_both_sides_takes_no_time() -> None:
    attribute = stage(*[CRASH] * 10)
    attribute._state.collector.shown_on[CRASH.fingerprint] = {(ONE,), (TWO,)}

    assert attribute.overtime_s == 0


class Attributing:
    """Records which buckets are tested, until they are settled."""

    def __init__(self) -> None:
        self.proposed: list[str] = []
        self.is_idle = True

    def is_attributable(self, finding: Finding, base: Collection[str]) -> bool:
        return Attributor.is_attributable(finding, base)

    def propose(self, bucket: Bucket, cases: object, base: object) -> None:
        del cases, base
        self.proposed.append(bucket.fingerprint)

    def pump(self) -> None:
        self.is_idle = False


def exploring(
    *buckets: Bucket, base: tuple[str, ...] = (ONE,), is_exploring: bool = True
) -> list[str]:
    """Return what is tested beside exploring."""
    attribute, attributing = stage(*buckets, base=base), Attributing()
    attribute._state.collector.cases = {}
    attribute._attributor = cast("Attributor", attributing)
    for _ in range(3):
        list(attribute.start_jobs(is_exploring=is_exploring))
    return attributing.proposed


def differences(count: int) -> list[Bucket]:
    return [replace(DIFFERENCE, fingerprint=f"v1:{number:016x}") for number in range(count)]


def test_many_differences_are_tested_beside_exploring_one_group_at_a_time() -> None:
    many = differences(100)

    assert exploring(CRASH, *many) == [one.fingerprint for one in many[:TOGETHER]]


def test_few_differences_wait_for_the_stage() -> None:
    assert exploring(*differences(TOGETHER - 1)) == []
    assert exploring(*differences(100), is_exploring=False) == []
    assert exploring(*differences(100), base=()) == []
