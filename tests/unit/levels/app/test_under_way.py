"""Jobs of services that are still running at the first status request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ciguard.levels.app.in_target.under_way import UnderWay

if TYPE_CHECKING:
    import pytest


def test_job_is_running_once_and_only_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    begun = UnderWay()
    begun.begin("asked at once")
    begun.begin("asked later")

    assert [begun.is_met("asked at once") for _ in range(2)] == [True, False]
    now[0] = 12.0
    assert not begun.is_met("asked later")
    assert not begun.is_met("never begun")


def test_job_without_a_status_request_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    begun = UnderWay()
    for number in range(100):
        now[0] += 0.5
        begun.begin(f"{number}")

    assert len(begun._since) == 3
