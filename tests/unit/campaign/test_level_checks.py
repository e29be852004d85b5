"""What a run checks of its levels before anything is built."""

from __future__ import annotations

import pytest

from ciguard.campaign.levels import check_levels
from ciguard.config import Config
from ciguard.errors import ConfigurationError

COMPILED = ("torch==2.12.0 compile", "torch==2.13.0 compile")


def test_graphs_need_an_eager_target() -> None:
    with pytest.raises(ConfigurationError, match="level 'graph' needs a target") as raised:
        check_levels(Config(levels=("api", "graph"), targets=COMPILED))

    assert ", ".join(COMPILED) in str(raised.value)
    assert str(raised.value).endswith("Add --target 'torch==2.12.0'.")


def test_one_eager_target_suffices_also_that_of_the_base() -> None:
    check_levels(Config(levels=("graph",), targets=(*COMPILED, "torch==2.13.0")))
    check_levels(Config(levels=("graph",), targets=COMPILED, base=("torch==2.12.0",)))


def test_calls_of_level_api_need_no_eager_target() -> None:
    check_levels(Config(levels=("api",), targets=COMPILED))
