"""Feedback of units: which APIs a compiler does not support, and what is left to compile.

If the message of a refusal names the step, its API is to blame, and the unit runs again without the
graph. Otherwise both halves of the unit run again, until a single graph is left: then all its APIs
are suspected, unless they were compiled in another unit. An error or a crash in a mode hides the
other graphs of the unit, too, so these also run again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.graphs import results_used, step_to_json
from ciguard.domain.outcomes import Crashed, Errored, Passed, Rejected
from ciguard.levels.graph.defects import different_outputs, first_wrong, paired_outputs
from ciguard.levels.graph.failures import failed_step, is_about_sizes
from ciguard.levels.graph.reshaping import changes_in_place, connected_steps, kept_steps
from ciguard.levels.graph.rounding import is_large
from ciguard.oracles import input_precision_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.graphs import GraphCase, Step
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json


_FAILURES = (Rejected, Errored, Crashed)
"""Outcomes of a unit that say nothing about its other graphs. One that hangs is not repeated."""
_MIN_TARGETS = 2
"""Number of targets that must run a unit, so that its results can be compared."""


class _Feedback:
    """Feedback of several units."""

    def __init__(self) -> None:
        self.blamed: list[str] = []
        self.suspected: list[str] = []
        self.compiled: set[str] = set()
        self.wrong: list[str] = []
        self.right: list[str] = []
        self.retried: list[tuple[Step, ...]] = []

    def note(self, case: GraphCase, row: Sequence[Outcome]) -> None:
        """Add one unit with its outcomes on all targets."""
        failures = [outcome for outcome in row if isinstance(outcome, _FAILURES)]
        if all(isinstance(outcome, Passed) for outcome in row):
            self.compiled.update(case.apis)
            wrong, right = _judged_calls(case, row)
            self.wrong += sorted(wrong)
            self.right += sorted(right - wrong)
        elif failures and len(failures) < len(row):
            failure = next((o for o in failures if failed_step(o) is not None), failures[0])
            step = failed_step(failure)
            if step is None or step >= len(case.steps):
                self._halve(case)
            else:
                self._blame(case, step, failure)
        elif failures and (case.grows or case.is_mapped or case.has_gradients):
            # What is left of a graph may not take other tensors, and not each call has a gradient.
            self._retry(case, set(range(len(case.steps))))

    def _blame(self, case: GraphCase, step: int, failure: Outcome) -> None:
        producers = [case.steps[result.step] for result in results_used(case.steps[step])]
        apis = [producer.api for producer in producers if isinstance(producer, ApiCall)]
        call = case.steps[step]
        if apis and isinstance(failure, Rejected) and is_about_sizes(failure):
            self.suspected += apis
        elif isinstance(call, ApiCall):
            (self.blamed if isinstance(failure, Rejected) else self.suspected).append(call.api)
        self._retry(case, set(range(len(case.steps))) - connected_steps(case.steps, step))

    def _halve(self, case: GraphCase) -> None:
        graphs = graphs_in(case.steps)
        if len(graphs) == 1:
            self.suspected += case.apis
            return
        middle = len(graphs) // 2
        for half in (graphs[:middle], graphs[middle:]):
            self._retry(case, set().union(*half))

    def _retry(self, case: GraphCase, kept: set[int]) -> None:
        if kept:
            self.retried.append(kept_steps(case.steps, kept))


def _judged_calls(case: GraphCase, row: Sequence[Outcome]) -> tuple[set[str], set[str]]:
    """Return the APIs of calls that are wrong in a mode, and those of calls that are right.

    Both are empty unless the unit returns all results. A call whose result another one changes in
    place is neither, since the other one may be wrong, and so is one whose result rounding may
    have changed.
    """
    changed = [n for n, step in enumerate(case.steps) if changes_in_place(step)]
    unclear = set().union(*(connected_steps(case.steps, number) for number in changed))
    calls = {n for n, step in enumerate(case.steps) if isinstance(step, ApiCall)}
    if not calls <= set(case.outputs) or len(row) < _MIN_TARGETS:
        return set(), set()
    wrong, right = set[int](), calls - unclear
    inputs = input_precision_of(case)
    for other in row[1:]:
        pairs = paired_outputs(case, row[0], other)
        first = set(first_wrong(case, row[0], other)) - unclear
        wrong |= {n for n in first if any(is_large(*pair, inputs) for pair in pairs[n])}
        right &= pairs.keys() - set(different_outputs(case, row[0], other))
    return _apis(case, wrong), _apis(case, right)


def _apis(case: GraphCase, numbers: set[int]) -> set[str]:
    return {step.api for number in numbers if isinstance(step := case.steps[number], ApiCall)}


def unit_feedback(
    index: int, cases: Sequence[GraphCase], rows: Sequence[Sequence[Outcome]]
) -> Json:
    """Return the feedback of a batch of units, with the outcomes of each case on all targets."""
    feedback = _Feedback()
    for case, row in zip(cases, rows, strict=False):
        feedback.note(case, row)
    return {
        "index": index,
        "blamed": feedback.blamed,
        "suspected": feedback.suspected,
        "compiled": sorted(feedback.compiled),
        "wrong": feedback.wrong,
        "right": feedback.right,
        "retried": [[step_to_json(step) for step in steps] for steps in feedback.retried],
    }


def graphs_in(steps: Sequence[Step]) -> list[set[int]]:
    """Return the steps of each graph of a unit: parts that do not depend on each other."""
    left = set(range(len(steps)))
    graphs = []
    while left:
        graph = connected_steps(steps, min(left))
        graphs.append(graph)
        left -= graph
    return graphs
