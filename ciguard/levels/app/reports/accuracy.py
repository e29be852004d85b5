"""Text report of an application's functions on inputs that people would recognise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.app.accuracy import Assessment, ConditionVerdict, Robustness
    from ciguard.levels.app.input_synthesis import InputSpec

_WIDTH = 200
_REASON = 400
_SENTENCE = 1000


def assessed_lines(assessment: Assessment) -> Iterator[str]:
    """Yield the lines about one function."""
    function = assessment.explored.function
    place = f"{visible(function.file)}:{function.line} {visible(function.name)}"
    if assessment.problem:
        yield f"{place}: not tested: {visible(assessment.problem, limit=_REASON)}"
        return
    yield f"{place}: {inputs_of(assessment)}"
    for verdict in assessment.verdicts:
        yield from _verdict(verdict)
    for note in notes_of(assessment):
        yield _line(f"  {note}")
    for crash, sample in assessment.crashes:
        yield _line(f"  {crash.file}:{crash.line}: error: {crash.error}")
        yield _line(f"    with {_wanted(sample.wanted)}: {sample.origin}")
    if assessment.robustness is not None:
        yield from _robustness(assessment.robustness)


def accuracy_summary(results: Sequence[Assessment]) -> str:
    """Return the totals: functions tested, and sub-conditions judged."""
    tested = sum(not assessment.problem for assessment in results)
    judged = sum(len(assessment.verdicts) for assessment in results)
    return f"{tested} functions tested, {len(results) - tested} not; {judged} sub-conditions judged"


def inputs_of(assessment: Assessment) -> str:
    """Return the number of inputs of a function, and the outcomes that they reached."""
    met, of = assessment.outcome_counts
    reached = f"met {met} of {of} outcomes of sub-conditions"
    return f"{assessment.trials} inputs {reached}, {assessment.seconds:.1f} s"


def notes_of(assessment: Assessment) -> Iterator[str]:
    """Yield what was not tested or judged of a function, with the reasons."""
    for problem, count in assessment.unjudged_inputs.items():
        yield f"{count} inputs not judged: {problem}"
    for wanted in assessment.missing:
        what = f"no inputs for {_wanted(wanted)}"
        yield f"{what}: add a folder of files with --images, or search for images with --search"


def word_of(verdict: ConditionVerdict) -> str:
    """Return the severity of a verdict: ok, warning or error."""
    if not verdict.is_failure:
        return "ok"
    return "error" if verdict.is_of_service else "warning"


def _verdict(verdict: ConditionVerdict) -> Iterator[str]:
    goal = verdict.goal
    word = word_of(verdict)
    yield _line(f"  {goal.branch.file}:{goal.line}: {word}: {goal.text}: {verdict.claim}")
    if not verdict.is_failure:
        return
    if not verdict.is_of_service:
        source = "simulated" if verdict.is_simulated else "from a local engine"
        yield _line(f"    answers were {source} ({verdict.engine}): check with --service real")
    if verdict.recognised:
        labels = ", ".join(repr(label) for label in verdict.recognised)
        yield _line(f"    recognised in the inputs that fail: {labels}")
    if verdict.suggestion is not None:
        yield visible(f"    {verdict.suggestion.sentence}", limit=_SENTENCE)


def _robustness(robustness: Robustness) -> Iterator[str]:
    calls = robustness.calls
    raised = sum(uncaught.calls for uncaught in robustness.uncaught.values())
    yield _line(f"  with faults: {calls} calls, {raised} raised an uncaught exception")
    for uncaught in robustness.uncaught.values():
        word = "error" if uncaught.crash.is_judged else "warning"
        place = f"{uncaught.crash.file}:{uncaught.crash.line}"
        yield _line(
            f"    {place}: {word}: {uncaught.crash.error} ({uncaught.calls} of {calls} calls)"
        )
    for instead, count in robustness.hangs.items():
        yield _line(f"    {count} of {calls} calls: {instead}")


def _wanted(wanted: InputSpec) -> str:
    description = wanted.key or wanted.kind or (wanted.feeling or "") or "nothing in particular"
    return f"{wanted.task} {description!r}" if wanted.key else f"{wanted.task}, {description}"


def _line(text: str) -> str:
    return visible(shortened(text, _WIDTH))
