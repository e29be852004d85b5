"""What came of an application's functions on inputs that people would recognise, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import shortened, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.app.accuracy import Assessed, ConditionVerdict, Robustness
    from ciguard.levels.app.input_synthesis import InputSpec

_WIDTH = 200
_REASON = 400
_SENTENCE = 1000


def assessed_lines(assessed: Assessed) -> Iterator[str]:
    """Yield what a person reads of one function."""
    found = assessed.explored.found
    place = f"{visible(found.file)}:{found.line} {visible(found.name)}"
    if assessed.problem:
        yield f"{place}: not tried: {visible(assessed.problem, limit=_REASON)}"
        return
    yield f"{place}: {inputs_of(assessed)}"
    for verdict in assessed.verdicts:
        yield from _verdict(verdict)
    for note in notes_of(assessed):
        yield _line(f"  {note}")
    for crash, tried in assessed.crashes:
        yield _line(f"  {crash.file}:{crash.line}: error: {crash.error}")
        yield _line(f"    with {_wanted(tried.wanted)}: {tried.origin}")
    if assessed.robustness is not None:
        yield from _robustness(assessed.robustness)


def accuracy_summary(results: Sequence[Assessed]) -> str:
    """Return how much was tried and judged, also where nothing else is told."""
    tried = sum(not one.problem for one in results)
    judged = sum(len(one.verdicts) for one in results)
    return f"{tried} functions tried, {len(results) - tried} not; {judged} sub-conditions judged"


def inputs_of(assessed: Assessed) -> str:
    """Return how many inputs a function was tried on, and how far they got."""
    met, of = assessed.outcomes
    reached = f"met {met} of {of} outcomes of sub-conditions"
    return f"{assessed.trials} inputs {reached}, {assessed.seconds:.1f} s"


def notes_of(assessed: Assessed) -> Iterator[str]:
    """Yield what was not tried or judged of a function, with the reasons."""
    for problem, count in assessed.left_out.items():
        yield f"{count} inputs not judged: {problem}"
    for wanted in assessed.missing:
        what = f"no inputs for {_wanted(wanted)}"
        yield f"{what}: name a folder of them with --images, or look for some with --search"


def word_of(verdict: ConditionVerdict) -> str:
    """Return how bad it is."""
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
        how = "made up" if verdict.is_simulated else "from an engine in the service's place"
        yield _line(f"    answers were {how} ({verdict.engine}): try it with --service real")
    if verdict.recognised:
        said = ", ".join(repr(one) for one in verdict.recognised)
        yield _line(f"    recognised in those that do not: {said}")
    if verdict.suggestion is not None:
        yield visible(f"    {verdict.suggestion.sentence}", limit=_SENTENCE)


def _robustness(robustness: Robustness) -> Iterator[str]:
    calls = robustness.calls
    raised = sum(one.calls for one in robustness.raised.values())
    yield _line(f"  with faults: {calls} calls, {raised} let an exception through")
    for one in robustness.raised.values():
        word = "error" if one.crash.is_judged else "warning"
        place = f"{one.crash.file}:{one.crash.line}"
        yield _line(f"    {place}: {word}: {one.crash.error} ({one.calls} of {calls} calls)")
    for instead, count in robustness.endless.items():
        yield _line(f"    {count} of {calls} calls: {instead}")


def _wanted(wanted: InputSpec) -> str:
    what = wanted.key or wanted.kind or (wanted.feeling or "") or "nothing in particular"
    return f"{wanted.task} {what!r}" if wanted.key else f"{wanted.task}, {what}"


def _line(text: str) -> str:
    return visible(shortened(text, _WIDTH))
