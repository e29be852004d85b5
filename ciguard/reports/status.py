"""The status of a run on its pull request: conclusion, title, summary and remarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.baseline_status import BaselineState
from ciguard.domain.findings import Verdict
from ciguard.domain.policy import Action
from ciguard.domain.remarks import Remark, RemarkLevel
from ciguard.errors import ExitCode
from ciguard.reports.caveats import was_cut_short
from ciguard.reports.remarks import is_new, remarks
from ciguard.reports.summary import first_blocks, summary_blocks
from ciguard.reports.wording import counts_text, fixed_text

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.reports.received import ReceivedRun

_MAX_SUMMARY_BYTES = 60_000
"""Maximum size of the summary: GitHub accepts 65,535 characters in a check run or a comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The status of a run on its pull request. All texts are escaped and within GitHub's limits."""

    conclusion: str
    """Conclusion of the check run: `success`, `failure`, `neutral` or `cancelled`."""
    title: str
    """The verdict as one sentence."""
    summary: str
    """Summary of the run as markdown."""
    remarks: tuple[Remark, ...] = ()
    """Remarks by level, then severity."""


def status_of(run: ReceivedRun, folder: Path) -> Status:
    """Return the status of a run on its pull request.

    Args:
        run: the run, read back from its folder.
        folder: the folder of the run, which holds the reproducers.
    """
    event = run.finished
    conclusion = _conclusion(run)
    counts = counts_text(event.buckets, fixed=fixed_text(event, run.plan))
    parts = [
        _verdict(run, conclusion),
        counts,
        *(["some targets NOT RUN"] if was_cut_short(event, run.plan) else []),
        *_baseline_note(run),
    ]
    return Status(
        conclusion=conclusion,
        title=f"{parts[0]}: {'; '.join(parts[1:])}",
        summary=first_blocks(
            summary_blocks(event, run.plan, folder, run.documentation), _MAX_SUMMARY_BYTES
        ),
        remarks=tuple(remarks(event, run.places, run.policy)),
    )


def _verdict(run: ReceivedRun, conclusion: str) -> str:
    """Return the verdict for the title.

    The title is `NOT RUN` if the run is one part of a campaign, or if its results contradict each
    other.
    """
    event = run.finished
    if event.verdict is Verdict.PART:
        return "NOT RUN: this is one part of a campaign, which `ciguard merge` has to judge"
    if conclusion == "failure" and event.exit_code == ExitCode.CLEAN:
        return "NOT RUN: the results contradict each other"
    return event.verdict.value


def status_without_results(reason: str) -> Status:
    """Return the status of a run without readable results.

    Args:
        reason: why there are no readable results, as markdown.
    """
    title = "NOT RUN: there are no readable results, so there is no verdict"
    return Status(
        conclusion="failure",
        title=title,
        summary=f"# ciguard: NOT RUN\n\n{reason}\n",
        remarks=(Remark(level=RemarkLevel.ERROR, title="ciguard", message=title),),
    )


def _conclusion(run: ReceivedRun) -> str:
    """Return the conclusion of the check run.

    It is `neutral` instead of `success` if a whole target was not run or nothing was compared.
    """
    event = run.finished
    if event.verdict is Verdict.INTERRUPTED:
        return "cancelled"
    has_failing_bucket = any(
        is_new(b) and run.policy.action(b.finding) is Action.FAIL for b in event.buckets
    )
    is_clean = event.verdict in {Verdict.CLEAN, Verdict.ESTABLISHED}
    if event.exit_code != ExitCode.CLEAN or not is_clean:
        return "failure"
    if has_failing_bucket and event.verdict is Verdict.CLEAN:
        return "failure"
    if event.verdict is Verdict.ESTABLISHED or was_cut_short(event, run.plan):
        return "neutral"
    return "success"


def _baseline_note(run: ReceivedRun) -> list[str]:
    status = run.finished.baseline
    if status is None or status.state is BaselineState.FRESH:
        return []
    return [f"baseline {status.state.value.upper()}"]
