"""A result folder as the outputs of the action. What is missing or damaged is `not-run`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ciguard.domain.findings import Verdict
from ciguard.domain.text import visible
from ciguard.errors import ExitCode
from ciguard.files import read_text

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.actions.failures import StepFailure
    from ciguard.domain.plan import Plan
    from ciguard.errors import CiguardError

NO_BASELINE = "no-baseline"
"""Verdict of a run that may not establish one: there was nothing to compare with."""
NOTHING_TO_TEST = "nothing-to-test"
"""Verdict of a plan in which nothing was asked for, as for a change of documentation."""
COUNTED = ("new", "known", "accepted", "fixed", "flaky", "unconfirmed", "not-run")
"""States of buckets that are outputs, by name."""
FILES = {
    "summary": "summary.md",
    "html": "report.html",
    "sarif": "report.sarif",
    "junit": "junit.xml",
}
"""Outputs that are paths, and the file of the result folder that each names."""
RUN_FILE = "run.json"
NOT_RUN = "not-run"
INTERRUPTED = "interrupted"
_NO_PASS = frozenset({Verdict.NOT_RUN, Verdict.INTERRUPTED})
_MAX_REASONS = 20
_MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What the action answers with."""

    verdict: str
    """The verdict of the run in kebab-case, or `NO_BASELINE`."""
    sentence: str
    exit_code: int
    counts: dict[str, int]
    folder: Path

    @property
    def level(self) -> Literal["error", "warning", "notice"]:
        """How loud the sentence is said."""
        if self.exit_code:
            return "error"
        return "warning" if self.verdict in {NOT_RUN, NO_BASELINE} else "notice"

    def outputs(self) -> dict[str, str]:
        """Return every output by its name; a report that was not written is empty."""
        paths = {name: self.folder / file for name, file in FILES.items()}
        return {
            "verdict": self.verdict,
            "exit-code": str(self.exit_code),
            **{name: str(self.counts.get(name, 0)) for name in COUNTED},
            **{name: str(path) if path.is_file() else "" for name, path in paths.items()},
            "folder": str(self.folder),
        }


def results_of(folder: Path) -> Results:
    """Return what the run that wrote to `folder` came to."""
    try:
        run = json.loads(read_text(folder / RUN_FILE, most=_MAX_BYTES))
        return _results(run, folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Results(
            verdict=NOT_RUN,
            sentence=f"Not run: there are no results in the output folder ({visible(str(error))}).",
            exit_code=ExitCode.INTERNAL,
            counts={},
            folder=folder,
        )


def without_baseline(results: Results, *, is_written_later: bool) -> Results:
    """Return the results of a run that found no baseline and may not establish one.

    Args:
        results: of the run.
        is_written_later: whether another job establishes the baseline by what this one found.
    """
    if results.verdict != _shown(Verdict.ESTABLISHED):
        return results
    remedy = (
        "file-issues.yml, which runs next, establishes it"
        if is_written_later
        else "let a run of the default branch establish it, or name the base"
    )
    sentence = (
        f"There is no baseline yet, so nothing was compared: {remedy}. "
        f"What was found here: {results.sentence}"
    )
    return replace(results, verdict=NO_BASELINE, sentence=sentence)


def passed_over(results: Results) -> Results:
    """Return the results of filing what a run left that ended before there was anything."""
    sentence = "Nothing was filed: the run that was to be filed left no results. Its log says why."
    return replace(results, sentence=sentence, exit_code=ExitCode.CLEAN)


def without_plan(results: Results, plan: Path) -> Results:
    """Return the results of a run that came to nothing because there is no plan, saying that."""
    if results.verdict != NOT_RUN or plan.is_file():
        return results
    sentence = (
        "Not run: there is no plan. The job or step that makes it failed, or what it left is gone: "
        "its log says why."
    )
    return replace(results, sentence=sentence)


def explained(results: Results, failure: StepFailure | None) -> Results:
    """Return the results of a run that left none, with the reason why the step failed."""
    if failure is None or results.verdict != NOT_RUN or (results.folder / RUN_FILE).is_file():
        return results
    sentence = f"Not run: {failure.reason}"
    return replace(results, sentence=sentence, exit_code=failure.exit_code)


def not_prepared(error: CiguardError, folder: Path) -> Results:
    """Return the results of a call whose inputs or configuration cannot be used."""
    return Results(
        verdict=NOT_RUN,
        sentence=f"Not run: {visible(str(error))}",
        exit_code=error.exit_code,
        counts={},
        folder=folder,
    )


def _shown(verdict: Verdict) -> str:
    return verdict.value.lower().replace(" ", "-")


def idle_results(plan: Plan, folder: Path) -> Results:
    """Return what a run comes to whose plan has no job: a failure if some should have run."""
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
    # 256 would be 0 for a shell.
    verdict, exit_code = Verdict(run["verdict"]), ExitCode(run["exit_code"])
    counts = {name.replace(" ", "-"): int(count) for name, count in run["buckets"].items()}
    is_pass = exit_code is ExitCode.CLEAN and verdict not in _NO_PASS
    return Results(
        verdict=_shown(verdict),
        sentence=str(run["summary"]),
        # A run that did not end is no pass, whatever the file says.
        exit_code=ExitCode.CLEAN if is_pass else exit_code or ExitCode.INTERNAL,
        counts=counts,
        folder=folder,
    )
