"""Halving a range of versions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.campaign.bisect import Bisection, VersionStatus, VersionTrial, search
from ciguard.errors import ConfigurationError

VERSIONS = [f"{number}.0" for number in range(20)]


def bisected(standings: str, *, knows_good: bool = False) -> Bisection:
    """Search versions 0.0, 1.0, … that are good (g), bad (b) or skipped (s)."""
    letters = {"g": VersionStatus.GOOD, "b": VersionStatus.BAD, "s": VersionStatus.SKIPPED}
    return search(
        VERSIONS[: len(standings)],
        lambda version: VersionTrial(version, letters[standings[VERSIONS.index(version)]], "so"),
        knows_good=knows_good,
    )


@given(st.integers(1, 9), st.integers(1, 10))
def test_the_first_bad_version_is_found_with_few_trials(good: int, bad: int) -> None:
    result = bisected("g" * good + "b" * bad)

    assert (result.last_good, result.first_bad) == (VERSIONS[good - 1], VERSIONS[good])
    assert result.between == []
    assert len(result.trials) <= 2 + 5
    assert len({trial.version for trial in result.trials}) == len(result.trials)


def test_skipped_versions_are_returned() -> None:
    result = bisected("ggssbb")

    assert (result.last_good, result.first_bad, result.between) == ("1.0", "4.0", ["2.0", "3.0"])


def test_the_oldest_testable_version_is_the_good_end() -> None:
    result = bisected("ssgb")

    assert (result.last_good, result.first_bad, result.between) == ("2.0", "3.0", [])


@pytest.mark.parametrize("standings", ["bbb", "b", "sbb", "ssb"])
def test_a_defect_of_all_versions_has_no_good_version(standings: str) -> None:
    result = bisected(standings)

    assert result.last_good == ""
    assert result.first_bad == VERSIONS[standings.index("b")]


def test_an_end_of_the_range_with_the_wrong_status_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"2\.0 does not show the defect: good, so"):
        bisected("ggg")
    with pytest.raises(ConfigurationError, match=r"0\.0 is not good: so"):
        bisected("bb", knows_good=True)
