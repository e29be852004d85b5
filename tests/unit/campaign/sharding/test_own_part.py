from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaign_examples import ONE, TWO
from part_examples import CRASH, DETECTION, VALUES, part, target, written

from ciguard.baseline.store import FolderStore
from ciguard.campaign.budget import Budget
from ciguard.campaign.conclude import BaselineSnapshot, Conclusion
from ciguard.campaign.frontier import Frontier
from ciguard.campaign.sharding.own_part import part_of, remove_part
from ciguard.config import Config
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Comparison, Verdict
from ciguard.domain.outcomes import Crashed, Passed
from ciguard.domain.parts import PARTS_FILE
from ciguard.domain.value_table import ValueTable
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path


def test_the_part_of_an_earlier_run_is_removed(tmp_path: Path) -> None:
    folder = written(tmp_path / "out", part())

    remove_part(folder)
    remove_part(folder)
    remove_part(tmp_path / "missing")

    assert not (folder / PARTS_FILE).exists()


def test_a_part_that_cannot_be_removed_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / PARTS_FILE).mkdir()

    with pytest.raises(OutputError, match=r"parts\.jsonl: cannot be removed"):
        remove_part(tmp_path)


def test_a_part_contains_buckets_that_only_the_base_shows(tmp_path: Path) -> None:
    config = Config(base=(ONE,), targets=(TWO,))
    memory = BaselineSnapshot(
        store=FolderStore(tmp_path),
        records={},
        is_first=True,
        frontier=Frontier(tmp_path, is_first=True),
    )
    run = Conclusion(
        config=config,
        baseline=memory,
        budget=Budget(1.0),
        targets=(target(ONE), target(TWO)),
        base=(ONE,),
        script_targets={},
        replayed={},
        explored={},
        used=(),
        detection=DETECTION,
    )
    on_both = replace(CRASH.finding, outcomes={ONE: Crashed("SIGSEGV"), TWO: Passed(b"1", 0.1)})
    gone = replace(CRASH, finding=on_both, comparison=Comparison.FIXED)
    unmet = replace(VALUES, comparison=Comparison.FIXED, count=0)
    end = RunFinished(
        verdict=Verdict.PART,
        exit_code=0,
        summary="",
        targets=run.targets,
        buckets=(gone, unmet),
        stages={},
        apis_exercised={},
        parameters={},
        values=ValueTable(calls=3),
    )

    left = part_of(run, end, {}, documentation=())

    assert left.buckets == (replace(gone, comparison=Comparison.NEW),)
    assert left.detection == DETECTION
    assert left.values == ValueTable(calls=3)
