"""Localisation: from a unit of graphs on which a compiler is wrong to the calls that cause it.

A search takes a unit whose compiled results differ from the eager ones, or which the compiler
refuses or crashes on. It runs parts of the unit on the same two targets, each time a few at once:

1. the unit with all results as outputs, and each call alone whose result differs first,
2. if no call shows the defect alone, the part that each suspicious output depends on,
3. in a part that shows the defect, the parts of its intermediate results, to find the first call
   whose result is wrong,
4. the rest with inputs in place of results, one call after the other,
5. what remains at each stage of the compiler.

Between these steps, differences that rounding explains are dropped.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.api_calls import ApiCall
from ciguard.domain.graphs import GraphCase
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.execution import Job, Priority
from ciguard.levels.graph.defects import (
    Defect,
    Request,
    Search,
    different_outputs,
    first_wrong,
    run_parts,
)
from ciguard.levels.graph.division import is_division_by_zero
from ciguard.levels.graph.failures import failed_step
from ciguard.levels.graph.last_call import is_right_for_its_inputs
from ciguard.levels.graph.reshaping import needed_steps, sliced, without_step
from ciguard.levels.graph.rounding import PERTURBATIONS, is_rounding
from ciguard.levels.graph.staging import with_stage
from ciguard.oracles import input_precision_of, judge
from ciguard.oracles.comparing import is_numeric_difference, perturb_case
from ciguard.oracles.relations import encode
from ciguard.writing import writer_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ciguard.campaign import ExecutedBatch, Group
    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher, JobResult
    from ciguard.levels.graph.defects import Answers

_MAX_RUNNING = 2
"""Maximum number of searches that run at the same time."""
_MAX_WAITING = 48
"""Maximum number of searches that wait; others are dropped."""
_MAX_RESULTS = 60
"""Maximum number of results that one run of a unit returns."""
_MAX_PARTS = 12
"""Maximum number of parts of a unit that are searched."""


@dataclass(slots=True)
class _Running:
    """A search that waits for the outcomes of a request."""

    search: Search
    request: Request
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)


class Localiser:
    """Localises defects in units of graphs; the caller passes on results of jobs."""

    key = "localise"

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._queue: deque[Search] = deque()
        self._running: dict[int, _Running] = {}
        self._count = 0
        self._defective: Counter[str] = Counter()
        """Number of findings by the key of the defect."""

    @property
    def is_idle(self) -> bool:
        """True if nothing waits and nothing runs."""
        return not self._queue and not self._running

    def note(self, executed: ExecutedBatch, group: Group) -> None:
        """Queue a search for each unit with a finding; probes are not judged."""
        names = list(executed.outcomes)
        rows = zip(*executed.outcomes.values(), strict=True)
        for case, row in zip(executed.cases, rows, strict=True):
            if not isinstance(case, GraphCase) or case.is_probe:
                continue
            outcomes = dict(zip(names, row, strict=True))
            for finding in judge(case, outcomes, group.subject(case.api)):
                if len(self._queue) < _MAX_WAITING:
                    defect = Defect(finding, group, self._defective)
                    self._queue.append(_unit_search(defect, case))

    def pump(self) -> list[Finding]:
        """Start as many searches as may run."""
        findings = []
        while self._queue and len(self._running) < _MAX_RUNNING:
            findings += self._advance(self._queue.popleft(), None)
        return findings

    def _advance(self, search: Search, answers: Answers | None) -> list[Finding]:
        """Continue a search; return its findings if it has ended."""
        try:
            request = next(search) if answers is None else search.send(answers)
        except StopIteration as end:
            found: list[Finding] = end.value
            return found
        self._count += 1
        self._running[self._count] = _Running(search, request)
        encoded = tuple(map(encode, request.cases))
        for target in request.targets:
            job = Job(target, (self.key, self._count), encoded, max_hangs=1)
            self._dispatcher.add(job, Priority.URGENT)  # queued jobs are dropped between stages
        return []

    def take(self, result: JobResult) -> Iterator[Finding]:
        """Yield the findings that follow from the result of one of the localiser's jobs."""
        number: int = result.job.key[1]  # type: ignore[index]
        running = self._running.get(number)
        if running is None:
            return  # the search was dropped
        running.outcomes[result.job.target] = result.outcomes
        if len(running.outcomes) < len(running.request.targets):
            return
        del self._running[number]
        names = running.request.targets
        rows = zip(*(running.outcomes[name] for name in names), strict=False)
        answers = [dict(zip(names, row, strict=True)) for row in rows]
        yield from self._advance(running.search, answers)

    def give_up(self, target: str) -> None:
        """Drop the running searches that need a failed target."""
        for number, running in list(self._running.items()):
            if target in running.request.targets:
                del self._running[number]

    def abandon(self) -> None:
        """Drop all unfinished searches."""
        self._queue.clear()
        self._running.clear()


# --- searches -------------------------------------------------------------------------------------


def _unit_search(defect: Defect, unit: GraphCase) -> Search:
    """Search the parts of a unit for calls that show a finding about the unit.

    Parts without a call of an API that is known to be defective come first. Outputs that depend on
    a call that is wrong alone are not searched.
    """
    findings: list[Finding] = []
    outputs = _suspicious_outputs(unit, defect.finding)
    if is_numeric_difference(defect.finding):
        explained = set()
        for number, call in (yield from _first_wrong_calls(unit, defect)):
            if defect.is_known(call.api):
                explained.add(number)
                continue
            for case, outcomes in (yield from run_parts([call], defect)):
                wrong = defect.shown(case, outcomes)
                if wrong is not None:
                    explained.add(number)
                    about_call = yield from _call_search(case, wrong, defect)
                    findings += [about_call] if about_call is not None else []
        outputs = [o for o in outputs if not explained & needed_steps(unit.steps, [o])]
    parts = [sliced(unit, output) for output in outputs]
    parts.sort(key=lambda part: sum(map(defect.is_known, part.apis)))
    for part, outcomes in (yield from run_parts(parts[:_MAX_PARTS], defect)):
        shown = defect.shown(part, outcomes)
        found = (yield from _part_search(part, shown, defect)) if shown is not None else None
        if found is not None:
            findings.append(found)
    return findings


def _first_wrong_calls(
    unit: GraphCase, defect: Defect
) -> Generator[Request, Answers, list[tuple[int, GraphCase]]]:
    """Return the calls whose results differ although those that they use agree, each alone.

    A run that returns all results of a unit shows them. Defects that need several calls, or a
    result that is not returned, are not found in this way.
    """
    calls = [number for number, step in enumerate(unit.steps) if isinstance(step, ApiCall)]
    ran = [(unit, dict(defect.finding.outcomes))]
    if not set(calls) <= set(unit.outputs):
        whole = replace(unit, outputs=tuple(calls[:_MAX_RESULTS]))
        ran = yield from run_parts([whole], defect)
    wrong = [
        number
        for case, outcomes in ran
        for number in first_wrong(case, *(outcomes[name] for name in defect.targets))
    ]
    return [(number, _alone(unit, number)) for number in wrong[:_MAX_PARTS]]


def _alone(unit: GraphCase, number: int) -> GraphCase:
    """Return a call of a unit with tensors in place of all results that it uses."""
    part = sliced(unit, number)
    while True:
        others = [
            other
            for other, step in enumerate(part.steps)
            if isinstance(step, ApiCall) and other not in part.outputs
        ]
        if not others:
            break
        part = without_step(part, others[0])
    return part


def _call_search(
    case: GraphCase, shown: Finding, defect: Defect
) -> Generator[Request, Answers, Finding | None]:
    """Return the finding about a single call; None if rounding explains it, or it is known."""
    if defect.is_known(case.api):
        return None
    if (yield from _is_explained(shown, defect)):
        return None
    defect.known[defect.key(case.api)] += 1
    return (yield from with_stage(case, shown, defect))


def _part_search(
    part: GraphCase, shown: Finding, defect: Defect
) -> Generator[Request, Answers, Finding | None]:
    """Return the finding about the smallest graph with the defect.

    None if rounding explains it, or a defect of the first wrong call is known.
    """
    if (yield from _is_explained(shown, defect)):
        return None
    part, shown = yield from _first_wrong(part, shown, defect)
    if defect.is_known(part.api):
        return None
    part, shown = yield from _without_calls(part, shown, defect)
    if defect.is_known(part.api) or _lacks_shapes(part, shown, defect):
        return None
    if (yield from _is_explained(shown, defect)):
        return None
    defect.known[defect.key(part.api)] += 1
    return (yield from with_stage(part, shown, defect))


def _lacks_shapes(part: GraphCase, shown: Finding, defect: Defect) -> bool:
    """Return whether a mode may refuse a graph because tracing does not know a result's shape.

    The mode does not refuse the last call on tensors, which `_without_calls` tried.
    """
    loses_shapes = defect.mode is not None and defect.mode.loses_shapes
    return loses_shapes and shown.kind == "refused" and len(part.calls) > 1


def _first_wrong(
    part: GraphCase, shown: Finding, defect: Defect
) -> Generator[Request, Answers, tuple[GraphCase, Finding]]:
    """Return the part of the first call whose own result shows the defect.

    Parts return copies if the library can make some, since a view that is wrong in compiled code
    shows only in calls that use it.
    """
    calls = [
        number
        for number, step in enumerate(part.steps)
        if isinstance(step, ApiCall) and number not in part.outputs
    ]
    copies = part.copies or bool(writer_of(defect.group.library).copied)
    parts = [replace(sliced(part, number), copies=copies) for number in calls]
    smaller = sorted(parts, key=lambda case: len(case.steps))
    for case, outcomes in (yield from run_parts(smaller, defect)):
        found = defect.shown(case, outcomes)
        if found is not None and not (yield from _is_explained(found, defect)):
            return case, found
    return part, shown


def _without_calls(
    part: GraphCase, shown: Finding, defect: Defect
) -> Generator[Request, Answers, tuple[GraphCase, Finding]]:
    """Return the part with inputs in place of the results that the defect does not need."""
    while True:
        variants = [
            without_step(part, number)
            for number, step in enumerate(part.steps)
            if number not in part.outputs and isinstance(step, ApiCall)
        ]
        found = [
            (case, finding)
            for case, outcomes in (yield from run_parts(variants, defect))
            if (finding := defect.shown(case, outcomes)) is not None
        ]
        if not found:
            return part, shown
        part, shown = min(found, key=lambda pair: len(pair[0].steps))


def _is_explained(shown: Finding, defect: Defect) -> Generator[Request, Answers, bool]:
    """Return whether rounding explains the difference that a finding reports."""
    case = shown.case
    if not isinstance(case, GraphCase):
        return False
    if is_numeric_difference(shown) and (yield from _is_rounding(case, shown, defect)):
        return True
    if (yield from is_division_by_zero(case, shown, defect)):
        return True
    have_passed = all(isinstance(outcome, Passed) for outcome in shown.outcomes.values())
    return have_passed and (yield from is_right_for_its_inputs(case, defect))


def _is_rounding(
    case: GraphCase, shown: Finding, defect: Defect
) -> Generator[Request, Answers, bool]:
    """Return whether the rounding of inputs explains a difference in numbers."""
    epsilon = dtypes.EPSILON.get(case.autocast, 0.0)
    seeds = range(1, PERTURBATIONS + 1)
    moved = [perturb_case(case, seed, epsilon=epsilon) for seed in seeds]
    runs = [replace(case, is_wide=True), *(run for run in moved if isinstance(run, GraphCase))]
    reference, other = defect.targets
    outcomes = [row[reference] for _, row in (yield from run_parts(runs, defect, (reference,)))]
    if len(outcomes) < len(runs):
        return True  # a run did not return
    wide = outcomes[0] if isinstance(outcomes[0], Passed) else None
    pair = shown.outcomes[reference], shown.outcomes[other]
    return is_rounding(pair, wide, outcomes[1:], input_precision_of(case))


def _suspicious_outputs(unit: GraphCase, finding: Finding) -> list[int]:
    """Return the outputs of a unit that may show a finding about it."""
    outcomes = [finding.outcomes[name] for name in finding.targets or finding.outcomes]
    step = failed_step(outcomes[-1])
    if step is not None and step < len(unit.steps):
        return [step]
    if len(outcomes) > 1 and is_numeric_difference(finding):
        outputs = different_outputs(unit, outcomes[0], outcomes[1])
        if outputs:
            return outputs
    return [*unit.outputs]
