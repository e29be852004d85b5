"""What searches for defects share: the defect that a search follows, and the cases that it runs."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.graphs import results_used
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.execution import Container, decode_outputs
from ciguard.levels.graph.reshaping import changes_in_place, connected_steps, kept_steps
from ciguard.oracles import input_precision_of, judge
from ciguard.oracles.comparing import compare_outputs, is_numeric_difference

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from ciguard.campaign import Group
    from ciguard.domain.findings import Finding
    from ciguard.domain.graphs import GraphCase
    from ciguard.execution import Output
    from ciguard.libraries import Mode
    from ciguard.oracles.comparing import Difference, InputPrecision

_MAX_FINDINGS = 1
"""Maximum number of findings of one oracle about an API on the same targets. Another search takes
as long as compiling several further units."""

Answers: TypeAlias = list[dict[str, Outcome]]
"""For each case, its outcomes by target; fewer than cases after a hang."""


@dataclass(frozen=True, slots=True)
class Request:
    """Cases that a search wants to run."""

    cases: tuple[GraphCase, ...]
    targets: tuple[str, ...]


Search: TypeAlias = Generator[Request, Answers, list["Finding"]]


@dataclass(frozen=True, slots=True)
class Defect:
    """The defect that a search follows."""

    finding: Finding
    """Finding about the unit."""
    group: Group
    known: Counter[str]
    """Number of findings by the key of the defect, which searches count."""

    @property
    def mode(self) -> Mode | None:
        """Mode of the target that is compared with the reference; None for eager execution."""
        name = self.targets[-1]
        modes = self.group.members[name].environment.library.modes
        return modes.get(self.group.mode_of(name))

    def key(self, api: str) -> str:
        """Return what identifies the defect of an API among those that are known."""
        return f"{api} {self.finding.oracle} {self.targets}"

    def is_known(self, api: str) -> bool:
        """Return whether enough findings about an API are known."""
        return self.known[self.key(api)] >= _MAX_FINDINGS

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


def run_parts(
    cases: Sequence[GraphCase], defect: Defect, targets: tuple[str, ...] = ()
) -> Generator[Request, Answers, list[tuple[GraphCase, dict[str, Outcome]]]]:
    """Run cases, and return each with its outcomes."""
    if not cases:
        return []
    answers = yield Request(tuple(cases), targets or defect.targets)
    return list(zip(cases, answers, strict=False))


def paired_outputs(
    unit: GraphCase, reference: Outcome, other: Outcome
) -> dict[int, list[tuple[Output, Output]]]:
    """Return both sides of each output of a unit, of all its runs; empty if they are unknown."""
    sides = [_results_of(unit, outcome) for outcome in (reference, other)]
    pairs: dict[int, list[tuple[Output, Output]]] = {}
    if sides[0] and len(sides[0]) == len(sides[1]):
        for place, pair in enumerate(zip(*sides, strict=True)):
            pairs.setdefault(unit.outputs[place % len(unit.outputs)], []).append(pair)
    return pairs


def output_differences(
    unit: GraphCase, reference: Outcome, other: Outcome, inputs: InputPrecision
) -> Iterator[tuple[int, Difference]]:
    """Yield each output in which two outcomes differ, and how; none if that is unknown.

    The tolerance of an output is that for the inputs of its own graph. Those of other graphs in the
    unit may be larger or less precise, and would hide the difference. What was measured of the
    whole unit holds for each graph: its condition number, and whether it computes with TF32.
    """
    precisions = {
        number: replace(precision, condition=inputs.condition, uses_tf32=inputs.uses_tf32)
        for number, precision in _precisions(unit).items()
    }
    for number, pairs in paired_outputs(unit, reference, other).items():
        found = (compare_outputs(left, right, precisions[number]) for left, right in pairs)
        difference = next(filter(None, found), None)
        if difference is not None:
            yield number, difference


def _precisions(unit: GraphCase) -> dict[int, InputPrecision]:
    """Return the precision of the inputs of each step's graph."""
    precisions: dict[int, InputPrecision] = {}
    for number in range(len(unit.steps)):
        if number not in precisions:
            graph = connected_steps(unit.steps, number)
            steps = kept_steps(unit.steps, graph)
            precision = input_precision_of(replace(unit, steps=steps, outputs=()))
            precisions.update(dict.fromkeys(graph, precision))
    return precisions


def different_outputs(unit: GraphCase, reference: Outcome, other: Outcome) -> list[int]:
    """Return the outputs in which two outcomes differ; empty if that is unknown."""
    inputs = input_precision_of(unit)
    return [number for number, _ in output_differences(unit, reference, other, inputs)]


def _results_of(unit: GraphCase, outcome: Outcome) -> list[Output]:
    """Return the results of a unit's outputs, one run after the other; empty if unknown."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    runs: list[Output] = [output] if output is not None else []
    has_more = unit.has_gradients or any(map(changes_in_place, unit.steps))
    for is_list, count in ((has_more, 1), (unit.grows or unit.is_mapped, 2)):
        # What follows the results is the inputs, or their gradients.
        runs = [
            item
            for run in runs
            for item in (run.items[:count] if is_list and isinstance(run, Container) else (run,))
        ]
    results = [run.items for run in runs if isinstance(run, Container)]
    if any(len(items) != len(unit.outputs) for items in results):
        return []
    return [item for items in results for item in items]


def first_wrong(unit: GraphCase, reference: Outcome, other: Outcome) -> list[int]:
    """Return the calls whose results differ although those that they use agree.

    They are among the outputs of the unit, which should be all of its calls.
    """
    wrong = set(different_outputs(unit, reference, other))
    return [
        number
        for number in sorted(wrong)
        if not any(result.step in wrong for result in results_used(unit.steps[number]))
    ]
