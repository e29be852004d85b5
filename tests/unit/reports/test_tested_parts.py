"""Reports of runs that test the user's functions and applications name them, not a library."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from finding_examples import crash
from part_examples import part
from report_examples import bucket, run_of, target, write_report

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.attribution import Attribution
from ciguard.domain.events import BucketHistory, RunFinished
from ciguard.domain.findings import Comparison
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.plan import Place, Plan, PlanMode
from ciguard.reports.caveats import caveats
from ciguard.reports.closing import closing_lines
from ciguard.reports.detail import bucket_lines
from ciguard.reports.summary import summary_blocks
from ciguard.reports.upgrade import upgrade_of
from ciguard.reports.wording import target_text

if TYPE_CHECKING:
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Bucket, Finding

FUNCTION = FunctionCase(api="src/m.py:f", file="src/m.py")
APPLICATION = AppCase(api="app.py:app.show", file="app.py", root=".", aspect=Aspect.ANSWER)
TESTED = {"src/m.py:f": "", "src/m.py:g": "its turn did not come", "src/m.py:h": ""}


def found(case: Case) -> Finding:
    return replace(crash(), api=case.api, case=case)


def end_of(*buckets: Bucket, **changes: object) -> RunFinished:
    """Return the end of a run that called no API of a library."""
    fields = {"targets": (target(apis=0),), "apis_exercised": {}, **changes}
    *_, end = run_of(buckets, **fields)
    assert isinstance(end, RunFinished)
    return end


@pytest.mark.parametrize(
    ("case", "part", "noun"),
    [
        (FUNCTION, "annotated functions", "function"),
        (APPLICATION, "applications", "function"),
        (crash().case, "torch", "API"),
    ],
)
def test_a_bucket_is_listed_under_what_its_level_tests(case: Case, part: str, noun: str) -> None:
    made = bucket(1, found(case))

    lines = [line.text for line in closing_lines(end_of(made), folder=Path("out"))]
    page = "".join(summary_blocks(end_of(made), None, Path("out")))

    assert f"  {part} critical: 1 new" in lines
    assert f"| class | {noun} | what happened |" in page
    assert ("also needs the project" in page) is (noun == "function")
    assert f"Tested:    {part}" in list(bucket_lines(made, script=""))


def test_a_run_of_functions_counts_functions_instead_of_apis(tmp_path: Path) -> None:
    end = end_of(parts=(part(functions=TESTED),))

    closing = "\n".join(line.text for line in closing_lines(end, folder=tmp_path))
    summary = "".join(summary_blocks(end, None, tmp_path))

    assert "  annotated functions: 2 of 3 tested" in closing
    assert "Annotated functions: 2 of 3 tested." in summary
    assert "API" not in closing + summary
    assert "API" not in target_text(end.targets[0])


def test_the_page_counts_functions_instead_of_apis(tmp_path: Path) -> None:
    made = bucket(1, found(FUNCTION))
    events = [*run_of([])[:1], end_of(made, parts=(part(functions=TESTED),))]

    page = write_report(events, tmp_path).read_text("utf-8")

    assert "Annotated functions: 2 of 3 tested." in page
    assert "No API was tested." in page
    assert '"parts": ["annotated functions"]' in page


def test_an_upgrade_includes_the_users_functions_beside_apis_in_use() -> None:
    plan = Plan(mode=PlanMode.PULL_REQUEST, uses={"torch.abs": (Place(path="m.py", line=1),)})
    versions = (target("old", version="1", apis=0), target(version="2", apis=0))
    fields = {"targets": versions, "parameters": {"base": ["old"]}}
    functions = part(functions=TESTED)

    new = bucket(1, found(FUNCTION), attribution=Attribution(head_shown=6, head_tried=6))
    broken = upgrade_of(end_of(new, **fields), plan)
    clean = upgrade_of(end_of(parts=(functions,), **fields), plan)

    assert broken is not None
    assert broken.counts_text == "Regressions: 1"
    assert clean is not None
    assert clean.counts_text == "No change found in 2 of 3 annotated functions"


@pytest.mark.parametrize(
    ("case", "base", "is_stored", "is_doubtful"),
    [
        (FUNCTION, ["old"], False, True),
        (APPLICATION, ["old"], False, True),
        (FUNCTION, ["old"], True, False),
        (FUNCTION, [], False, False),
        (crash().case, ["old"], False, False),
    ],
)
def test_a_base_with_the_same_sources_does_not_prove_that_a_defect_is_older(
    case: Case, base: list[str], *, is_stored: bool, is_doubtful: bool
) -> None:
    made = bucket(1, found(case), comparison=Comparison.KNOWN)
    history = {made.fingerprint: BucketHistory(first_seen="", last_seen="")}

    end = end_of(made, parameters={"base": base}, history=history if is_stored else {})
    texts = [caveat.text for caveat in caveats(end, None) if caveat.is_grave]

    assert any("1 known bucket of functions is not in the baseline" in t for t in texts) is (
        is_doubtful
    )
