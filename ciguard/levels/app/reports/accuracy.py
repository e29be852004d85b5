"""Text report of the assessment of an application's functions on synthesised inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import shortened, visible
from ciguard.levels.app.reports.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.app.accuracy import Assessment, ConditionVerdict, Robustness
    from ciguard.levels.app.input_synthesis import InputSpec
    from ciguard.levels.app.static_analysis import ServiceFunction

_MAX_LINE_LENGTH = 200
_MAX_REASON_LENGTH = 400
_MAX_SENTENCE_LENGTH = 1000


def assessment_lines(assessment: Assessment) -> Iterator[str]:
    """Yield the lines about one function."""
    function = assessment.explored.function
    place = f"{visible(function.file)}:{function.line} {visible(function.name)}"
    if assessment.problem:
        yield f"{place}: not tested: {visible(assessment.problem, limit=_MAX_REASON_LENGTH)}"
        return
    yield f"{place}: {input_summary(assessment)}"
    for verdict in assessment.verdicts:
        yield from _verdict_lines(verdict)
    for note in untested_notes(assessment):
        yield _line(f"  {note}")
    for crash, sample in assessment.crashes:
        yield _line(f"  {crash.file}:{crash.line}: error: {crash.error}")
        yield _line(f"    with {_spec_text(sample.wanted)}: {sample.origin}")
    if assessment.robustness is not None:
        yield from _robustness_lines(assessment.robustness)


def closing_lines(
    results: Sequence[Assessment], functions: Sequence[ServiceFunction]
) -> Iterator[str]:
    """Yield lines about the functions that were not called, and a summary.

    Args:
        results: the results of the others.
        functions: all functions.
    """
    called = {assessment.explored.function.name for assessment in results}
    skipped = [function for function in functions if function.name not in called]
    without = [function.name for function in skipped if not function.goals]
    judged = [function.name for function in skipped if function.goals]
    if without:
        yield _line(f"not called, because no answer decides a condition: {', '.join(without)}")
    if judged:
        yield _line(
            "not called, because their conditions were judged in other functions or depend on "
            f"nothing that an input can show: {', '.join(judged)}"
        )
    yield _summary(results)


def _summary(results: Sequence[Assessment]) -> str:
    """Return the numbers of tested functions and judged sub-conditions."""
    tested = sum(not assessment.problem for assessment in results)
    judged = sum(len(assessment.verdicts) for assessment in results)
    return (
        f"{counted(tested, 'function')} tested, {len(results) - tested} not tested; "
        f"{counted(judged, 'sub-condition')} judged"
    )


def input_summary(assessment: Assessment) -> str:
    """Return a function's number of inputs, and the number of outcomes that they reached."""
    reached, total = assessment.outcome_counts
    return (
        f"{counted(assessment.trials, 'input')} reached {reached} of {counted(total, 'outcome')} "
        f"of sub-conditions, {assessment.seconds:.1f} s"
    )


def untested_notes(assessment: Assessment) -> Iterator[str]:
    """Yield a note for each sub-condition, input and specification that was not judged."""
    for goal, reason in assessment.unjudged_goals:
        yield f"{goal.branch.file}:{goal.line}: not judged: {goal.text}: {reason}"
    for problem, count in assessment.unjudged_inputs.items():
        yield f"{counted(count, 'input')} not judged: {problem}"
    for wanted in assessment.missing:
        problem = f"no inputs for {_spec_text(wanted)}"
        yield f"{problem}; add a subfolder of files to --images, or search for images with --search"


def severity_of(verdict: ConditionVerdict) -> str:
    """Return the severity of a verdict: ok, warning or error."""
    if not verdict.is_failure:
        return "ok"
    return "error" if verdict.is_of_service else "warning"


def _verdict_lines(verdict: ConditionVerdict) -> Iterator[str]:
    goal = verdict.goal
    severity = severity_of(verdict)
    yield _line(f"  {goal.branch.file}:{goal.line}: {severity}: {goal.text}: {verdict.claim}")
    if not verdict.is_failure:
        return
    if not verdict.is_of_service:
        source = "simulated" if verdict.is_simulated else "from a local engine"
        yield _line(
            f"    the answers were {source} ({verdict.engine}); check them with --service real"
        )
    if verdict.recognised:
        labels = ", ".join(repr(label) for label in verdict.recognised)
        yield _line(f"    recognised in the missed inputs: {labels}")
    if verdict.suggestion is not None:
        yield visible(f"    {verdict.suggestion.sentence}", limit=_MAX_SENTENCE_LENGTH)


def _robustness_lines(robustness: Robustness) -> Iterator[str]:
    calls = robustness.calls
    raised = sum(uncaught.calls for uncaught in robustness.uncaught.values())
    yield _line(
        f"  with injected faults: {raised} of {counted(calls, 'call')} raised an uncaught exception"
    )
    for uncaught in robustness.uncaught.values():
        severity = "error" if uncaught.crash.is_judged else "warning"
        place = f"{uncaught.crash.file}:{uncaught.crash.line}"
        yield _line(
            f"    {place}: {severity}: {uncaught.crash.error} "
            f"({uncaught.calls} of {counted(calls, 'call')})"
        )
    for behaviour, count in robustness.hangs.items():
        yield _line(f"    {count} of {counted(calls, 'call')}: {behaviour}")


def _spec_text(wanted: InputSpec) -> str:
    description = wanted.key or wanted.kind or (wanted.feeling or "") or "nothing in particular"
    return f"{wanted.task} {description!r}" if wanted.key else f"{wanted.task}, {description}"


def _line(text: str) -> str:
    return visible(shortened(text, _MAX_LINE_LENGTH))
