"""Minimising: the time that exploring leaves for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import bucket, finding

from ciguard.campaign.budget import Budget
from ciguard.campaign.stages.minimise import Minimise
from ciguard.config import Config
from ciguard.domain.findings import Severity
from ciguard.domain.outcomes import Crashed, Hung
from ciguard.oracles import HANG

if TYPE_CHECKING:
    from ciguard.campaign.state import CampaignState

LANES = 4
CRASHES = finding(Crashed("SIGSEGV", (), ""))
HANGS = replace(finding(Hung(5.0, ())), oracle=HANG, kind=HANG)


@pytest.mark.parametrize(
    ("severities", "expected_s"),
    [
        ((), 0.0),
        ((Severity.LOW,), 0.0),
        ((Severity.MEDIUM, Severity.LOW, Severity.CRITICAL), 0.5),
        ((Severity.HIGH,) * 100, 5.0),
    ],
    ids=["none", "low", "several", "too many"],
)
def test_exploring_leaves_time_for_buckets_above_low_severity(
    severities: tuple[Severity, ...], expected_s: float
) -> None:
    buckets = [
        replace(bucket(replace(CRASHES, severity=severity)), fingerprint=f"v1:{number}")
        for number, severity in enumerate(severities)
    ]
    buckets.append(replace(bucket(HANGS), fingerprint="v1:hang"))
    state = SimpleNamespace(
        dispatcher=SimpleNamespace(lanes=LANES),
        config=Config(out=Path("out")),
        groups={},
        budget=Budget(100.0),
        collector=SimpleNamespace(confirmed=buckets, by_severity=lambda: buckets),
        baseline=SimpleNamespace(fingerprints=frozenset()),
    )

    assert Minimise(cast("CampaignState", state)).needed_s == expected_s
