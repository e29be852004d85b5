"""Collection of garbage in cycles while a campaign runs."""

from __future__ import annotations

import gc

import pytest

from ciguard.campaign.garbage import collected_rarely


def test_cycles_are_searched_rarely_within_the_context_only() -> None:
    before = gc.get_threshold()

    with collected_rarely():
        assert gc.get_threshold()[0] > before[0]

    assert gc.get_threshold() == before


def test_the_thresholds_are_restored_after_an_error() -> None:
    before = gc.get_threshold()

    with pytest.raises(KeyboardInterrupt), collected_rarely():
        raise KeyboardInterrupt

    assert gc.get_threshold() == before
