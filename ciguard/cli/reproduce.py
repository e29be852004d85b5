"""`ciguard reproduce`: run a bucket's case again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ciguard.cli.lookup import matching_bucket
from ciguard.cli.options import example, takes_settings
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed, Passed, Rejected
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.config import Config, EffectiveSettings
    from ciguard.domain.findings import Bucket
    from ciguard.domain.outcomes import Frame, Outcome


@click.command(
    short_help="Run a bucket's case again.",
    epilog=example("ciguard reproduce 8a45dee0 --target torch==2.12.0"),
)
@click.argument("bucket")
@click.option(
    "--target",
    metavar="TARGET",
    help="Target to run the case on, e.g. another version. [default: the target where it was "
    "found]",
)
@click.option(
    "--gdb",
    is_flag=True,
    help="Also show the native stack of a crash, using gdb; for a crash on a GPU, the error in its "
    "kernel, using compute-sanitizer.",
)
@takes_settings("out", "baseline", "case-limit", "memory", "app-labels")
def reproduce(settings: EffectiveSettings, bucket: str, target: str | None, *, gdb: bool) -> int:
    """Run BUCKET's case again, and report whether it still shows the defect.

    Exits with 1 if the case still shows the defect and 0 if not, as `git bisect run` expects.
    """
    from ciguard.campaign import reproduce as run_again
    from ciguard.reports import outcome_text

    match = matching_bucket(settings.config, bucket)
    # If two targets differ, the last one deviates.
    origin = match.finding.targets[-1]
    refuse_measured_finding(match)
    refuse_incomplete(match)
    recorded = match.finding.outcomes.get(origin)
    if recorded is None and match.finding.pair is not PairKind.NONE:
        msg = (
            f"bucket {match.fingerprint} is a difference between targets, but the "
            "baseline does not store the outcomes to compare. Run `ciguard run` with "
            "both targets to replay the bucket's case."
        )
        raise ConfigurationError(msg)
    where = target or origin.partition(" #")[0]
    outcome = run_again(
        match,
        where,
        settings.config,
        on_step=lambda step: click.echo(visible(step), err=True),
    )
    is_same = is_still_broken(match, outcome)
    if is_same is None:
        is_same = _has_same_symptom(recorded, outcome)
    if recorded is not None:
        click.echo(f"recorded on {visible(origin)}: {visible(outcome_text(recorded))}")
    click.echo(f"now on {visible(where)}: {visible(outcome_text(outcome))}")
    if gdb and isinstance(outcome, Crashed):
        _show_native_stack(match, where, settings.config)
    click.echo("same" if is_same else "different")
    return ExitCode.FINDINGS if is_same else ExitCode.CLEAN


def _show_native_stack(bucket: Bucket, target: str, config: Config) -> None:
    from ciguard.campaign import debug
    from ciguard.triage import native_frames

    session = debug(
        bucket, target, config, on_step=lambda step: click.echo(visible(step), err=True)
    )
    if bucket.finding.loses_device:
        _show_kernel(session.frames)
        return
    stack = [line for line in session.text.splitlines() if line.startswith("#")]
    if not stack:
        click.echo(
            "gdb observed no crash: under gdb, the process did not crash before the timeout."
        )
        return
    click.echo("native stack")
    for line in stack:
        click.echo(f"   {visible(line)}")
    click.echo("native frames in the library")
    for frame in native_frames(session.frames):
        click.echo(f"   {visible(frame.function)} ({visible(frame.file)})")


def _show_kernel(frames: Iterable[Frame]) -> None:
    text = "\n".join(f"   {visible(frame.function)} ({visible(frame.file)})" for frame in frames)
    if text:
        click.echo(f"kernel with the error\n{text}")
    else:
        click.echo("compute-sanitizer observed no error in a kernel before the timeout.")


def refuse_measured_finding(bucket: Bucket) -> None:
    """Reject a bucket whose defect was measured, since a single call on one target cannot show it.

    Raises:
        ConfigurationError: if the bucket was found by measuring.
    """
    from ciguard.oracles import is_measured

    if is_measured(bucket.finding):
        msg = (
            f"bucket {bucket.fingerprint} was found by measuring ({bucket.finding.kind}), "
            "so a single call cannot show its defect. Run the bucket's script on both "
            "targets, or run `ciguard run`, which measures the call again."
        )
        raise ConfigurationError(msg)


def refuse_incomplete(bucket: Bucket) -> None:
    """Reject a bucket whose metamorphic relation is not available.

    Raises:
        ConfigurationError: if the relation is not installed, or does not apply to the call.
    """
    from ciguard.oracles.relations import is_replayable

    case = bucket.finding.case
    if not is_replayable(case):
        msg = (
            f"bucket {bucket.fingerprint}: its metamorphic relation "
            f"{visible(case.relation)!r} is not installed, or does not apply to this "
            "call. Install the package that provides the relation."
        )
        raise ConfigurationError(msg)


def is_still_broken(bucket: Bucket, now: Outcome) -> bool | None:
    """Return whether one outcome alone shows the bucket's defect; None if it cannot decide that."""
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
    findings = judge(finding.case, {"now": now}, subject)
    return any((item.oracle, item.kind, item.detail) == wanted for item in findings)


def _has_same_symptom(recorded: Outcome | None, now: Outcome) -> bool:
    """Return whether two outcomes of one case show the same defect.

    Args:
        recorded: the recorded outcome; None if the bucket is only in the baseline, which does not
            store outcomes.
        now: the outcome of this call.
    """
    from ciguard.triage import symptom_of

    if recorded is None:
        return not isinstance(now, Passed | Rejected)
    if isinstance(recorded, Passed) and isinstance(now, Passed):
        return recorded.encoded == now.encoded
    return symptom_of(recorded) == symptom_of(now)
