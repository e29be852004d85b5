"""`ciguard reproduce`: run one bucket's case again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import bucket_of
from ciguard.cli.options import takes_settings
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed, Passed, Rejected
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError, ExitCode

if TYPE_CHECKING:
    from ciguard.config import Config, Effective
    from ciguard.domain.findings import Bucket
    from ciguard.domain.outcomes import Outcome


@click.command(short_help="Run one bucket's case again.")
@click.argument("bucket")
@click.option(
    "--target",
    metavar="TARGET",
    help="Where to run it, e.g. another version; by default where it was found.",
)
@click.option("--gdb", is_flag=True, help="Show the native stack of a crash too, by gdb.")
@takes_settings("out", "baseline", "case-limit", "memory", "app-labels")
def reproduce(settings: Effective, bucket: str, target: str | None, *, gdb: bool) -> int:
    """Run BUCKET's case again and say whether it still shows the defect.

    Exits 1 if the outcome is the same and 0 if it is different, as `git bisect run` wants it.
    """
    from ciguard.campaign import reproduce as run_again
    from ciguard.reports import outcome_text

    found = bucket_of(settings.config, bucket)
    # Of two targets that differ the last one is the one that deviates.
    origin = found.finding.targets[-1]
    refuse_measured(found)
    refuse_incomplete(found)
    recorded = found.finding.outcomes.get(origin)
    if recorded is None and found.finding.pair is not PairKind.NONE:
        msg = (
            f"bucket {found.fingerprint}: a difference between targets, and the baseline keeps no "
            "outcomes to compare with. Run `ciguard run` with both targets; it replays the case."
        )
        raise ConfigurationError(msg)
    where = target or origin.partition(" #")[0]
    outcome = run_again(
        found, where, settings.config, on_step=lambda step: click.echo(visible(step), err=True)
    )
    is_same = still_broken(found, outcome)
    if is_same is None:
        is_same = shows_the_same(recorded, outcome)
    if recorded is not None:
        click.echo(f"recorded on {visible(origin)}: {visible(outcome_text(recorded))}")
    click.echo(f"now on {visible(where)}: {visible(outcome_text(outcome))}")
    if gdb and isinstance(outcome, Crashed):
        _show_native(found, where, settings.config)
    click.echo("same" if is_same else "different")
    return ExitCode.FINDINGS if is_same else ExitCode.CLEAN


def _show_native(bucket: Bucket, target: str, config: Config) -> None:
    from ciguard.campaign import debug
    from ciguard.triage import native_frames

    seen = debug(bucket, target, config, on_step=lambda step: click.echo(visible(step), err=True))
    stack = [line for line in seen.text.splitlines() if line.startswith("#")]
    if not stack:
        click.echo("gdb saw no crash: under it the process did not die, or not in time.")
        return
    click.echo("native stack")
    for line in stack:
        click.echo(f"   {visible(line)}")
    click.echo("of the library itself")
    for frame in native_frames(seen.frames):
        click.echo(f"   {visible(frame.function)} ({visible(frame.file)})")


def refuse_measured(bucket: Bucket) -> None:
    """Refuse a bucket whose defect one call on one target cannot show.

    Raises:
        ConfigurationError: if its targets were measured against each other.
    """
    from ciguard.oracles import is_measured

    if is_measured(bucket.finding):
        msg = (
            f"bucket {bucket.fingerprint}: found by measuring ({bucket.finding.kind}), which one "
            "call does not show. Run its script on both targets, or `ciguard run`, which measures "
            "the call again."
        )
        raise ConfigurationError(msg)


def refuse_incomplete(bucket: Bucket) -> None:
    """Refuse a bucket whose call cannot be tried with its metamorphic relation here.

    Raises:
        ConfigurationError: if the relation is not installed.
    """
    from ciguard.oracles.relations import is_whole

    case = bucket.finding.case
    if not is_whole(case):
        msg = (
            f"bucket {bucket.fingerprint}: its relation {visible(case.relation)!r} is not known "
            "here, or says nothing of this call. Install the package that it comes from."
        )
        raise ConfigurationError(msg)


def still_broken(bucket: Bucket, now: Outcome) -> bool | None:
    """Return whether a law that one outcome alone decides is broken; None for other findings."""
    from ciguard.oracles import Subject, judge, traits_of
    from ciguard.triage import presentable

    finding = bucket.finding
    shown = presentable(finding.case).is_shown_by(finding, now)
    if shown is not None:
        return shown
    traits = traits_of(finding.oracle)
    if traits.is_shown_by_passing:
        return isinstance(now, Passed)  # the forbidden argument is accepted
    if not traits.is_judged_alone:
        return None
    subject = Subject(library=finding.library, api=finding.api, targets={})
    wanted = (finding.oracle, finding.kind, finding.detail)
    found = judge(finding.case, {"now": now}, subject)
    return any((one.oracle, one.kind, one.detail) == wanted for one in found)


def shows_the_same(recorded: Outcome | None, now: Outcome) -> bool:
    """Return whether two outcomes of one case show one defect.

    Args:
        recorded: None for a bucket of the baseline, which keeps the case only.
        now: what happened this time.
    """
    from ciguard.triage import symptom_of

    if recorded is None:
        return not isinstance(now, Passed | Rejected)
    if isinstance(recorded, Passed) and isinstance(now, Passed):
        return recorded.encoded == now.encoded
    return symptom_of(recorded) == symptom_of(now)
