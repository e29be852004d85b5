"""Functions that the baseline has tested, and which buckets a change has therefore added."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from campaign_examples import ONE, TWO, bucket, crash, member

from ciguard.campaign.covered_functions import CoveredFunctions, added_by_change
from ciguard.campaign.frontier import FRONTIER, Frontier
from ciguard.campaign.setup import summary
from ciguard.domain.findings import Comparison
from ciguard.domain.function_calls import FunctionCase
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from ciguard.domain.findings import Bucket, TargetSummary

NAME = "m.py:f"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with two programs."""
    monkeypatch.chdir(tmp_path)
    for name in ("m.py", "broken.py"):
        Path(name).write_text("before", "utf-8")


def change(*names: str) -> None:
    for name in names:
        Path(name).write_text("after", "utf-8")


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


CASES: tuple[tuple[str, dict[str, Any], str, str, bool], ...] = (
    ("tested", {}, NAME, "2.12.0", True),
    ("build", {"version": "2.12.0+cpu"}, NAME, "2.12.0+cu130", True),
    ("other version", {}, NAME, "2.13.0", False),
    ("longer", {"budget_s": 59.0}, NAME, "2.12.0", False),
    ("untested", {"reason": "its turn did not come"}, NAME, "2.12.0", False),
    ("added", {}, "m.py:added", "2.12.0", True),
    ("added, other version", {}, "m.py:added", "2.13.0", False),
    ("added file", {}, "new.py:f", "2.12.0", True),
    ("program", {}, "broken.py:f", "2.12.0", False),
)


@pytest.mark.parametrize(
    ("tested", "name", "version", "is_clean"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_a_function_is_clean_if_the_baseline_would_have_its_defect(
    tested: dict[str, Any], name: str, version: str, *, is_clean: bool
) -> None:
    functions = covered(**tested)

    change("m.py", "broken.py", "new.py")

    assert added(functions, name, version) == is_clean


@pytest.mark.parametrize("name", [NAME, "m.py:added"])
def test_a_change_of_other_files_adds_no_defect(name: str) -> None:
    functions = covered()

    change("other.py")

    assert not added(functions, name, "2.12.0")


def test_nothing_is_known_of_a_file_that_could_not_be_read() -> None:
    Path("m.py").unlink()
    functions = covered()

    change("m.py")

    assert not added(functions, NAME, "2.12.0")
    assert not added(CoveredFunctions(), NAME, "2.12.0")


def test_only_files_of_the_checkout_are_read(tmp_path: Path) -> None:
    outside, pipe = tmp_path.parent / f"{tmp_path.name}.py", Path("pipe.py")
    outside.write_text("before", "utf-8")
    os.mkfifo(pipe)
    functions = CoveredFunctions()

    functions.note({f"{outside}:f": "", "pipe.py:f": "", "/dev/zero:f": ""}, [target("1")], 1.0)

    assert [covered["source"] for covered in functions.to_json().values()] == ["", "", ""]


def test_runs_before_a_change_of_the_file_do_not_count() -> None:
    functions = covered(budget_s=300.0)
    change("m.py")
    functions.note({NAME: ""}, [target("2.12.0")], 30.0)
    Path("m.py").write_text("last", "utf-8")

    assert not added(functions, NAME, "2.12.0")


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
    functions = covered()

    change("m.py")

    assert not added_by_change([known, of_library], functions, base, on_both, 60.0)
    assert not added_by_change([found(NAME)], functions, base, {}, 60.0)


def test_the_largest_budget_is_kept_in_the_frontier(tmp_path: Path) -> None:
    for budget_s in (60.0, 300.0, 30.0):
        frontier = Frontier(tmp_path)
        frontier.functions.note({NAME: ""}, [target("2.12.0")], budget_s)
        frontier.save()

    stored = Frontier(tmp_path).functions

    assert stored.to_json()[NAME]["budgets"] == {"torch 2.12.0": 300.0}


@pytest.mark.parametrize(
    "functions", ['["f"]', '{"f": ["x"]}', '{"f": {"budgets": {"torch 2.12.0": "long"}}}']
)
def test_malformed_functions_are_reported(functions: str, tmp_path: Path) -> None:
    text = f'{{"schema": 2, "explored": {{}}, "ran": {{}}, "functions": {functions}}}'
    (tmp_path / FRONTIER).write_text(text, "utf-8")

    with pytest.raises(BaselineError, match="cannot be read"):
        Frontier(tmp_path)
