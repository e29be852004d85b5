from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from ciguard.baseline.store import FolderStore
from ciguard.campaign.conclude import BaselineSnapshot
from ciguard.campaign.frontier import Frontier
from ciguard.campaign.journal import ResumeState
from ciguard.campaign.stages.sequence import stages_of
from ciguard.campaign.state import begin
from ciguard.config import Config

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.campaign.journal import Journal
    from ciguard.campaign.state import CampaignState
    from ciguard.execution import Dispatcher

BEFORE = [
    "describe",
    "replay",
    "explore",
    "relatives",
    "libraries",
    "measure",
    "count",
    "explore",
    "confirm",
    "minimise",
]


def state_of(folder: Path, base: tuple[str, ...]) -> CampaignState:
    memory = BaselineSnapshot(
        store=FolderStore(folder), records={}, is_first=True, frontier=Frontier(folder)
    )
    nobody = object()  # nothing is started or written before the first stage runs
    return begin(
        Config(base=base),
        memory,
        ResumeState(),
        dispatcher=cast("Dispatcher", nobody),
        journal=cast("Journal", nobody),
    )


@pytest.mark.parametrize(
    ("base", "dates", "after"),
    [
        ((), False, ["detect", "trace"]),
        (("torch==2.12.0",), False, ["attribute", "detect", "trace"]),
        ((), True, ["detect", "trace", "date"]),
    ],
)
def test_stages_of_a_run_are_ordered_and_optional_ones_omitted(
    tmp_path: Path, *, base: tuple[str, ...], dates: bool, after: list[str]
) -> None:
    stages = stages_of(state_of(tmp_path, base), {}, dates=dates)

    assert [stage.name for stage in stages] == [*BEFORE, *after, "confirm"]


def test_no_two_stages_share_a_job_key(tmp_path: Path) -> None:
    state = state_of(tmp_path, ("torch==2.12.0",))

    keys = [key for stage in stages_of(state, {}, dates=True) for key in stage.keys]

    assert len(keys) == len(set(keys))
