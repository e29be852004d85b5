"""Functions that the baseline has tested, and which buckets a change has therefore added."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaign_examples import ONE, TWO, bucket, crash, member

from ciguard.campaign.covered_functions import CoveredFunctions, added_by_change
from ciguard.campaign.frontier import FRONTIER, Frontier
from ciguard.campaign.setup import summary
from ciguard.domain.findings import Comparison
from ciguard.domain.function_calls import FunctionCase
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.findings import Bucket, TargetSummary

NAME = "m.py:f"


def target(version: str, name: str = ONE) -> TargetSummary:
    return replace(summary(member(name)), name=name, library="torch", version=version)


def covered(
    *, budget_s: float = 60.0, reason: str = "", version: str = "2.12.0"
) -> CoveredFunctions:
    functions = CoveredFunctions()
    functions.note(
        {NAME: reason, "m.py:other": "", "broken.py": "ImportError"}, [target(version)], budget_s
    )
    return functions


@pytest.mark.parametrize(
    ("functions", "name", "version", "is_clean"),
    [
        (covered(), NAME, "2.12.0", True),
        (covered(version="2.12.0+cpu"), NAME, "2.12.0+cu130", True),
        (covered(), NAME, "2.13.0", False),
        (covered(budget_s=59.0), NAME, "2.12.0", False),
        (covered(reason="its turn did not come"), NAME, "2.12.0", False),
        (covered(), "m.py:added", "2.12.0", True),
        (covered(), "m.py:added", "2.13.0", False),
        (covered(), "broken.py:f", "2.12.0", False),
        (CoveredFunctions(), NAME, "2.12.0", False),
    ],
    ids=[
        "tested",
        "build",
        "version",
        "longer",
        "untested",
        "added",
        "added, version",
        "program",
        "none",
    ],
)
def test_a_function_is_clean_if_the_baseline_would_have_its_defect(
    functions: CoveredFunctions, name: str, version: str, *, is_clean: bool
) -> None:
    assert added(functions, name, version) == is_clean


def added(functions: CoveredFunctions, name: str, version: str) -> bool:
    """Return whether a bucket that base and head show is added by the change."""
    shown = found(name)
    on_base = target(version, TWO)
    shown_on = {shown.fingerprint: {(ONE,), (TWO,)}}
    return bool(added_by_change([shown], functions, [on_base], shown_on, 60.0))


def found(name: str, comparison: Comparison = Comparison.NEW) -> Bucket:
    case = FunctionCase(api=name, file="m.py")
    return bucket(replace(crash(), api=name, case=case, targets=(ONE,)), comparison=comparison)


def test_only_new_buckets_that_the_base_shows_are_added() -> None:
    known, of_library = found(NAME, Comparison.KNOWN), bucket(crash(), comparison=Comparison.NEW)
    base = [target("2.12.0", TWO)]
    on_both = {one.fingerprint: {(ONE, TWO)} for one in (known, of_library)}

    assert not added_by_change([known, of_library], covered(), base, on_both, 60.0)
    assert not added_by_change([found(NAME)], covered(), base, {}, 60.0)


def test_the_largest_budget_is_kept_in_the_frontier(tmp_path: Path) -> None:
    for budget_s in (60.0, 300.0, 30.0):
        frontier = Frontier(tmp_path)
        frontier.functions.note({NAME: ""}, [target("2.12.0")], budget_s)
        frontier.save()

    stored = Frontier(tmp_path).functions

    assert stored.to_json() == {NAME: {"torch 2.12.0": 300.0}}


@pytest.mark.parametrize("functions", ['["f"]', '{"f": ["x"]}', '{"f": {"torch 2.12.0": "long"}}'])
def test_malformed_functions_are_reported(functions: str, tmp_path: Path) -> None:
    text = f'{{"schema": 2, "explored": {{}}, "ran": {{}}, "functions": {functions}}}'
    (tmp_path / FRONTIER).write_text(text, "utf-8")

    with pytest.raises(BaselineError, match="cannot be read"):
        Frontier(tmp_path)
