"""The outputs of the action, from a folder with results.

The verdict is `not-run` if results are missing or damaged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ciguard.domain.findings import INCONCLUSIVE, Verdict
from ciguard.domain.text import visible
from ciguard.errors import ExitCode
from ciguard.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.actions.failures import StepFailure
    from ciguard.domain.plan import Plan
    from ciguard.errors import CiguardError

NO_BASELINE = "no-baseline"
"""Verdict of a run that found no baseline and may not establish one."""
NOTHING_TO_TEST = "nothing-to-test"
"""Verdict of a plan without jobs, such as for a change of documentation only."""
COUNTED = ("new", "known", "accepted", "fixed", "flaky", "unconfirmed", "not-run")
"""States of buckets whose counts are outputs."""
FILES = {
    "summary": "summary.md",
    "html": "report.html",
    "sarif": "report.sarif",
    "junit": "junit.xml",
}
"""Files of the results folder, by the output that holds the path."""
RUN_FILE = "run.json"
NOT_RUN = "not-run"
NOT_TESTED = "not-tested"
INTERRUPTED = "interrupted"
_MAX_REASONS = 20
_MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The results of one call of the action."""

    verdict: str
    """Verdict of the run in kebab-case, or `NO_BASELINE` or `NOTHING_TO_TEST`."""
    sentence: str
    """Summary of the run for an annotation: one sentence, or lines of sentences."""
    exit_code: int
    counts: dict[str, int]
    folder: Path

    @property
    def level(self) -> Literal["error", "warning", "notice"]:
        """Level of the annotation."""
        if self.exit_code:
            return "error"
        return "warning" if self.verdict in {NOT_RUN, NO_BASELINE} else "notice"

    def outputs(self) -> dict[str, str]:
        """Return all outputs by name; the path of a missing report is empty."""
        paths = {name: self.folder / file for name, file in FILES.items()}
        return {
            "verdict": self.verdict,
            "exit-code": str(self.exit_code),
            **{name: str(self.counts.get(name, 0)) for name in COUNTED},
            **{name: str(path) if path.is_file() else "" for name, path in paths.items()},
            "folder": str(self.folder),
        }


def results_of(folder: Path) -> Results:
    """Return the results of the run that wrote to `folder`."""
    try:
        run = json.loads(read_text(folder / RUN_FILE, most=_MAX_BYTES))
        return _results(run, folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Results(
            verdict=NOT_RUN,
            sentence=f"Not run: the output folder contains no results ({visible(str(error))}).",
            exit_code=ExitCode.INTERNAL,
            counts={},
            folder=folder,
        )


def without_baseline(results: Results, *, is_written_later: bool) -> Results:
    """Return the results of a run that found no baseline and may not establish one.

    Args:
        results: the results of the run.
        is_written_later: whether another job establishes the baseline from these results.
    """
    if results.verdict != _kebab_case(Verdict.ESTABLISHED):
        return results
    remedy = (
        "The workflow that calls file-issues.yml runs next and establishes the baseline."
        if is_written_later
        else ("Establish the baseline with a run on the default branch, or set the input `base`.")
    )
    sentence = (
        f"There is no baseline yet to compare with. {remedy} Results of this run: "
        f"{results.sentence}"
    )
    return replace(results, verdict=NO_BASELINE, sentence=sentence)


def nothing_to_file(results: Results) -> Results:
    """Return the results of the task `file` for a workflow run that left no results."""
    sentence = "No issues were filed, because the tested workflow run left no results. See its log."
    return replace(results, sentence=sentence, exit_code=ExitCode.CLEAN)


def without_plan(results: Results, plan: Path) -> Results:
    """Return the results with an explanation if the run did not start without a plan."""
    if results.verdict != NOT_RUN or plan.is_file():
        return results
    sentence = (
        "Not run: there is no plan. The job or step that creates the plan failed, or its artifact "
        "is missing. See the log of that job."
    )
    return replace(results, sentence=sentence)


def with_failure(results: Results, failure: StepFailure | None) -> Results:
    """Return the results; if the run left none, they report the failure of a step."""
    if failure is None or results.verdict != NOT_RUN or (results.folder / RUN_FILE).is_file():
        return results
    sentence = f"Not run: {failure.reason}"
    return replace(results, sentence=sentence, exit_code=failure.exit_code)


def not_prepared(error: CiguardError, folder: Path) -> Results:
    """Return the results of a call with invalid inputs or an invalid configuration."""
    return Results(
        verdict=NOT_RUN,
        sentence=f"Not run: {visible(str(error))}",
        exit_code=error.exit_code,
        counts={},
        folder=folder,
    )


def _kebab_case(verdict: Verdict) -> str:
    return verdict.value.lower().replace(" ", "-")


def idle_results(plan: Plan, folder: Path) -> Results:
    """Return the results for a plan without jobs; they fail the action if rows were skipped."""
    skipped = [f"{row.name}: {row.reason}" for row in plan.skipped]
    title = "Not run." if skipped else "Nothing to test."
    return Results(
        verdict=NOT_RUN if skipped else NOTHING_TO_TEST,
        sentence="\n".join([title, *(skipped or plan.reasons)[:_MAX_REASONS]]),
        exit_code=ExitCode.INTERNAL if skipped else ExitCode.CLEAN,
        counts={},
        folder=folder,
    )


def _results(run: Any, folder: Path) -> Results:
    # ExitCode rejects other numbers, such as 256, which a shell truncates to 0.
    verdict, exit_code = Verdict(run["verdict"]), ExitCode(run["exit_code"])
    counts = {name.replace(" ", "-"): int(count) for name, count in run["buckets"].items()}
    is_pass = exit_code is ExitCode.CLEAN and verdict not in INCONCLUSIVE
    return Results(
        verdict=_kebab_case(verdict),
        sentence=str(run["summary"]),
        # An unfinished run never passes, whatever exit code the file contains.
        exit_code=ExitCode.CLEAN if is_pass else exit_code or ExitCode.INTERNAL,
        counts=counts,
        folder=folder,
    )
