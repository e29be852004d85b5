"""Settings with which a finding is run again."""

from __future__ import annotations

from finding_examples import crash

from ciguard.campaign.levels import rerun_settings
from ciguard.config import Config


def test_levels_that_are_not_installed_are_ignored_in_a_rerun() -> None:
    settings = rerun_settings(crash(), Config(levels=("api", "no-such-level", "model")))

    assert settings.levels == ("api", "model")
