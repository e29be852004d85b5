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
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.graphs import GraphCase, results_used
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.execution import Container, Job, Priority, decode_outputs
from ciguard.levels.graph.failures import failed_step
from ciguard.levels.graph.reshaping import changes_in_place, sliced, without_step
from ciguard.levels.graph.rounding import PERTURBATIONS, is_rounding
from ciguard.oracles import input_precision_of, judge
from ciguard.oracles.comparing import compare_outputs, is_numeric_difference, perturb_case
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.campaign import ExecutedBatch, Group
    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher, JobResult

_MAX_RUNNING = 2
"""Maximum number of searches that run at the same time."""
_MAX_WAITING = 48
"""Maximum number of searches that wait; others are dropped."""
_MAX_FINDINGS = 2
"""Maximum number of findings of one oracle about an API on the same targets."""
_MAX_RESULTS = 60
"""Maximum number of results that one run of a unit returns."""
_MAX_PARTS = 12
"""Maximum number of parts of a unit that are searched."""

Answers: TypeAlias = list[dict[str, Outcome]]
"""For each case, its outcomes by target; fewer than cases after a hang."""


@dataclass(frozen=True, slots=True)
class _Request:
    """Cases that a search wants to run."""

    cases: tuple[GraphCase, ...]
    targets: tuple[str, ...]


Search: TypeAlias = Generator[_Request, Answers, list["Finding"]]


@dataclass(slots=True)
class _Running:
    """A search that waits for the outcomes of a request."""

    search: Search
    request: _Request
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
                    defect = _Defect(finding, group, self._defective)
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


@dataclass(frozen=True, slots=True)
class _Defect:
    """The defect that a search follows."""

    finding: Finding
    """Finding about the unit."""
    group: Group
    known: Counter[str]
    """Number of findings by the key of the defect, which searches count."""

    def key(self, api: str) -> str:
        """Return what identifies the defect of an API among those that are known."""
        return f"{api} {self.finding.oracle} {self.targets}"

    @property
    def targets(self) -> tuple[str, ...]:
        """Targets on which parts run: the reference first."""
        finding = self.finding
        return finding.targets or tuple(finding.outcomes)

    def shown(self, case: GraphCase, outcomes: Mapping[str, Outcome]) -> Finding | None:
        """Return the finding that the outcomes of a part show, if it is the same kind of defect."""
        findings = judge(case, outcomes, self.group.subject(case.api))
        return next((found for found in findings if self._is_same(found)), None)

    def _is_same(self, found: Finding) -> bool:
        mine = self.finding
        are_numeric = is_numeric_difference(mine) and is_numeric_difference(found)
        return found.oracle == mine.oracle and (found.kind == mine.kind or are_numeric)


def _unit_search(defect: _Defect, unit: GraphCase) -> Search:
    """Search the parts of a unit for calls that show a finding about the unit.

    Parts without a call of an API that is known to be defective come first.
    """
    findings: list[Finding] = []
    if is_numeric_difference(defect.finding):
        for call, wrong in (yield from _wrong_alone(unit, defect)):
            about_call = yield from _call_search(call, wrong, defect)
            findings += [about_call] if about_call is not None else []
        if findings:
            return findings
    parts = [sliced(unit, output) for output in _suspicious_outputs(unit, defect.finding)]
    parts.sort(key=lambda part: sum(defect.key(api) in defect.known for api in part.apis))
    for part, outcomes in (yield from _run(parts[:_MAX_PARTS], defect)):
        shown = defect.shown(part, outcomes)
        found = (yield from _part_search(part, shown, defect)) if shown is not None else None
        if found is not None:
            findings.append(found)
    return findings


def _run(
    cases: Sequence[GraphCase], defect: _Defect, targets: tuple[str, ...] = ()
) -> Generator[_Request, Answers, list[tuple[GraphCase, dict[str, Outcome]]]]:
    """Run cases, and return each with its outcomes."""
    if not cases:
        return []
    answers = yield _Request(tuple(cases), targets or defect.targets)
    return list(zip(cases, answers, strict=False))


def _wrong_alone(
    unit: GraphCase, defect: _Defect
) -> Generator[_Request, Answers, list[tuple[GraphCase, Finding]]]:
    """Return single calls that show a defect, found by a run that returns all results of a unit.

    They are the calls whose results differ although those that they use agree. Defects that need
    several calls, or a result that is not returned, are not found in this way.
    """
    calls = [number for number, step in enumerate(unit.steps) if isinstance(step, ApiCall)]
    whole = replace(unit, outputs=tuple(calls[:_MAX_RESULTS]))
    wrong: set[int] = set()
    for case, outcomes in (yield from _run([whole], defect)):
        pair = [outcomes[name] for name in defect.targets]
        wrong.update(_different_outputs(case, *pair))
    first = [
        number
        for number in sorted(wrong)
        if not any(result.step in wrong for result in results_used(unit.steps[number]))
    ]
    alone = [_alone(unit, number) for number in first]
    alone = [case for case in alone if defect.known[defect.key(case.api)] < _MAX_FINDINGS]
    return [
        (case, shown)
        for case, outcomes in (yield from _run(alone[:_MAX_PARTS], defect))
        if (shown := defect.shown(case, outcomes)) is not None
    ]


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
    (call,) = part.calls
    return replace(part, api=call.api)


def _call_search(
    case: GraphCase, shown: Finding, defect: _Defect
) -> Generator[_Request, Answers, Finding | None]:
    """Return the finding about a single call; None if rounding explains it, or it is known."""
    if defect.known[defect.key(case.api)] >= _MAX_FINDINGS:
        return None
    if (yield from _is_explained(shown, defect)):
        return None
    defect.known[defect.key(case.api)] += 1
    return (yield from _with_stage(case, shown, defect))


def _part_search(
    part: GraphCase, shown: Finding, defect: _Defect
) -> Generator[_Request, Answers, Finding | None]:
    """Return the finding about the smallest graph with the defect.

    None if rounding explains it, or a defect of the first wrong call is known.
    """
    if (yield from _is_explained(shown, defect)):
        return None
    part, shown = yield from _first_wrong(part, shown, defect)
    if defect.known[defect.key(part.api)] >= _MAX_FINDINGS:
        return None
    part, shown = yield from _without_calls(part, shown, defect)
    if (yield from _is_explained(shown, defect)):
        return None
    defect.known[defect.key(part.api)] += 1
    return (yield from _with_stage(part, shown, defect))


def _first_wrong(
    part: GraphCase, shown: Finding, defect: _Defect
) -> Generator[_Request, Answers, tuple[GraphCase, Finding]]:
    """Return the part of the first call whose own result shows the defect."""
    calls = [
        number
        for number, step in enumerate(part.steps)
        if isinstance(step, ApiCall) and number not in part.outputs
    ]
    smaller = sorted((sliced(part, number) for number in calls), key=lambda case: len(case.steps))
    for case, outcomes in (yield from _run(smaller, defect)):
        found = defect.shown(case, outcomes)
        if found is not None and not (yield from _is_explained(found, defect)):
            return case, found
    return part, shown


def _without_calls(
    part: GraphCase, shown: Finding, defect: _Defect
) -> Generator[_Request, Answers, tuple[GraphCase, Finding]]:
    """Return the part with inputs in place of the results that the defect does not need."""
    while True:
        variants = [
            without_step(part, number)
            for number, step in enumerate(part.steps)
            if number not in part.outputs and isinstance(step, ApiCall)
        ]
        found = [
            (case, finding)
            for case, outcomes in (yield from _run(variants, defect))
            if (finding := defect.shown(case, outcomes)) is not None
        ]
        if not found:
            return part, shown
        part, shown = min(found, key=lambda pair: len(pair[0].steps))


def _is_explained(shown: Finding, defect: _Defect) -> Generator[_Request, Answers, bool]:
    """Return whether rounding explains the difference that a finding reports."""
    case = shown.case
    if not is_numeric_difference(shown) or not isinstance(case, GraphCase):
        return False
    moved = [perturb_case(case, seed) for seed in range(1, PERTURBATIONS + 1)]
    runs = [replace(case, is_wide=True), *(run for run in moved if isinstance(run, GraphCase))]
    reference, other = defect.targets
    outcomes = [row[reference] for _, row in (yield from _run(runs, defect, (reference,)))]
    if len(outcomes) < len(runs):
        return True  # a run did not return
    wide = outcomes[0] if isinstance(outcomes[0], Passed) else None
    pair = shown.outcomes[reference], shown.outcomes[other]
    return is_rounding(pair, wide, outcomes[1:], input_precision_of(case))


def _with_stage(
    part: GraphCase, shown: Finding, defect: _Defect
) -> Generator[_Request, Answers, Finding]:
    """Return the finding with the first stage of the compiler that shows the defect."""
    mode = defect.group.mode_of(defect.targets[-1])
    library = defect.group.members[defect.targets[-1]].environment.library
    stages = library.modes[mode].stages if mode in library.modes else ()
    cases = [replace(part, runs_stage=stage) for stage in stages]
    ran = yield from _run(cases, defect, defect.targets[-1:])
    for case, outcomes in ran:
        if defect.shown(case, {**shown.outcomes, **outcomes}) is not None:
            staged = replace(part, stage=case.runs_stage)
            return defect.shown(staged, shown.outcomes) or shown
    return shown


def _suspicious_outputs(unit: GraphCase, finding: Finding) -> list[int]:
    """Return the outputs of a unit that may show a finding about it."""
    outcomes = [finding.outcomes[name] for name in finding.targets or finding.outcomes]
    step = failed_step(outcomes[-1])
    if step is not None and step < len(unit.steps):
        return [step]
    if len(outcomes) > 1 and is_numeric_difference(finding):
        outputs = _different_outputs(unit, outcomes[0], outcomes[1])
        if outputs:
            return outputs
    return [*unit.outputs]


def _different_outputs(unit: GraphCase, reference: Outcome, other: Outcome) -> list[int]:
    """Return the outputs in which two outcomes differ; empty if that is unknown."""
    sides = []
    for outcome in (reference, other):
        output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
        has_more = unit.has_gradients or any(map(changes_in_place, unit.steps))
        if has_more and isinstance(output, Container):
            output = output.items[0]  # the second item is the inputs, or their gradients
        if not isinstance(output, Container) or len(output.items) != len(unit.outputs):
            return []
        sides.append(output.items)
    inputs = input_precision_of(unit)
    return [
        number
        for number, left, right in zip(unit.outputs, *sides, strict=True)
        if compare_outputs(left, right, inputs) is not None
    ]
