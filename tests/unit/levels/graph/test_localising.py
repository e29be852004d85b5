"""Localisation of the calls that a compiler gets wrong; a stub replaces the workers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import pytest
from campaign_examples import member
from graph_examples import PAIR, call, graph, result

from ciguard.campaign.group import Group
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.case import case_from_json
from ciguard.domain.graphs import GraphCase
from ciguard.domain.outcomes import Errored, Hung, Outcome, Passed, Rejected
from ciguard.domain.values import Explicit, Uniform
from ciguard.execution import JobResult, Priority
from ciguard.execution.worker.summarise import Summariser
from ciguard.levels.graph.defects import different_outputs
from ciguard.levels.graph.localising import Localiser
from ciguard.levels.graph.spec import LEVEL
from ciguard.libraries import LIBRARIES
from ciguard.oracles import Identity

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher, Job

EAGER, COMPILED = "torch", "torch compile"
Runs: TypeAlias = Callable[[GraphCase, str], Outcome]


class _NoTensors:
    def read(self, output: object) -> None:
        del output


def passed(*values: float) -> Outcome:
    arrays = [np.array([value], "float32") for value in values]
    output = arrays[0] if len(arrays) == 1 else tuple(arrays)
    return Passed(Summariser(_NoTensors()).encode(output), 0.0)


@dataclass
class StubDispatcher:
    """Stub of the dispatcher, which collects the jobs."""

    jobs: list[Job] = field(default_factory=list)

    def add(self, job: Job, priority: Priority) -> None:
        assert priority is Priority.URGENT  # normal ones are dropped between stages
        self.jobs.append(job)


def group(library: str = "torch", compiled: str = "compile") -> Group:
    members = {}
    for name, mode in ((EAGER, "eager"), (COMPILED, compiled)):
        members[name] = member()
        members[name].name = name
        members[name].environment = replace(
            members[name].environment, library=LIBRARIES.get(library)
        )
        members[name].identity = Identity(
            request=name, packages=(), version="2.13.0", device="cpu", mode=mode
        )
    return Group(library="torch", members=members)


def localised(
    unit: GraphCase, run: Runs, targets: Group | None = None
) -> tuple[list[Finding], list[GraphCase]]:
    """Return the findings about a unit, and all cases that the localiser ran."""
    dispatcher = StubDispatcher()
    localiser = Localiser(cast("Dispatcher", dispatcher))
    outcomes = {name: (run(unit, name),) for name in (EAGER, COMPILED)}
    localiser.note(ExecutedBatch(unit.api, (unit,), outcomes), targets or group())
    return finished(localiser, dispatcher, run)


def finished(
    localiser: Localiser, dispatcher: StubDispatcher, run: Runs
) -> tuple[list[Finding], list[GraphCase]]:
    """Run all jobs of a localiser; return its findings, and the cases of the jobs."""
    findings = list(localiser.pump())
    cases = []
    while dispatcher.jobs:
        job = dispatcher.jobs.pop(0)
        ran = [case_from_json(json.loads(encoded)) for encoded in job.cases]
        graphs = [case for case in ran if isinstance(case, GraphCase)]
        cases += graphs
        result_ = JobResult(job, tuple(run(case, job.target) for case in graphs), 0.1)
        findings += list(localiser.take(result_))
        findings += localiser.pump()
    assert localiser.is_idle
    return findings, cases


UNIT = graph(
    PAIR,
    call("torch.exp", result(0)),
    call("torch.sin", result(1)),
    call("torch.cos", result(2)),
    call("torch.tan", result(0)),
    outputs=(3, 4),
    api="torch.exp",
)


def wrong_sine(case: GraphCase, target: str) -> Outcome:
    """Compute a value that is wrong if a sine of an exponential is fused."""
    is_wrong = target == COMPILED and {"torch.exp", "torch.sin"} <= set(case.apis)
    is_fused = case.runs_stage in {"", "fusion", "vectorisation"}
    numbers = [
        7.0 if is_wrong and is_fused and number in _after_sine(case) else 1.0
        for number in case.outputs
    ]
    return passed(*numbers)


def _after_sine(case: GraphCase) -> set[int]:
    names = [getattr(step, "api", "") for step in case.steps]
    return {number for number, name in enumerate(names) if name in {"torch.sin", "torch.cos"}}


def test_a_wrong_result_is_traced_to_the_first_call_with_it() -> None:
    findings, _ = localised(UNIT, wrong_sine)

    (finding,) = findings
    case = finding.case
    assert isinstance(case, GraphCase)
    assert case.apis == ("torch.exp", "torch.sin")
    assert finding.api == "torch.sin"


def test_a_view_that_is_wrong_in_compiled_code_is_found_by_its_copy() -> None:
    def wrong_view(case: GraphCase, target: str) -> Outcome:
        names = [getattr(step, "api", "") for step in case.steps]
        is_wrong = target == COMPILED and "torch.exp" in names
        late = {"torch.sin", "torch.cos"}
        numbers = [
            7.0 if is_wrong and (names[n] in late or (case.copies and "exp" in names[n])) else 1.0
            for n in case.outputs
        ]
        return passed(*numbers)

    (finding,), _ = localised(UNIT, wrong_view)

    assert (finding.api, finding.case.apis) == ("torch.exp", ("torch.exp",))
    assert isinstance(finding.case, GraphCase)
    assert finding.case.copies


def test_the_stage_that_first_shows_the_defect_is_in_the_finding() -> None:
    findings, _ = localised(UNIT, wrong_sine)

    assert [finding.detail for finding in findings] == ["compile: fusion"]


def test_a_known_defect_is_not_reported_again() -> None:
    dispatcher = StubDispatcher()
    localiser = Localiser(cast("Dispatcher", dispatcher))
    findings = []
    for _ in range(4):
        outcomes = {name: (wrong_sine(UNIT, name),) for name in (EAGER, COMPILED)}
        localiser.note(ExecutedBatch(UNIT.api, (UNIT,), outcomes), group())
        findings += finished(localiser, dispatcher, wrong_sine)[0]

    assert [finding.api for finding in findings] == ["torch.sin"]


def test_a_difference_that_moved_inputs_explain_is_dropped() -> None:
    def chaotic(case: GraphCase, target: str) -> Outcome:
        is_moved = case.steps[0] != PAIR
        value = 7.0 if target == COMPILED or is_moved else 1.0
        return passed(*(value for _ in case.outputs))

    findings, cases = localised(UNIT, chaotic)

    assert findings == []
    assert sum(case.is_wide for case in cases) >= 1


def test_a_refused_call_is_found_by_the_step_in_the_message() -> None:
    def refusing(case: GraphCase, target: str) -> Outcome:
        names = [getattr(step, "api", "") for step in case.steps]
        if target == COMPILED and "torch.sin" in names:
            return Rejected("RuntimeError", f"step {names.index('torch.sin')}: no such stride")
        return passed(*(1.0 for _ in case.outputs))

    findings, _ = localised(UNIT, refusing)

    (finding,) = findings
    assert (finding.kind, finding.api) == ("refused", "torch.sin")
    assert finding.case.apis == ("torch.sin",)


@pytest.mark.parametrize(
    ("library", "mode", "blamed"),
    [("torch", "compile", ["torch.cos"]), ("tensorflow", "xla", [])],
)
def test_a_call_that_is_refused_on_a_result_may_lack_its_shape(
    library: str, mode: str, blamed: list[str]
) -> None:
    def refusing(case: GraphCase, target: str) -> Outcome:
        names = [getattr(step, "api", "") for step in case.steps]
        if target == COMPILED and {"torch.sin", "torch.cos"} <= set(names):
            return Rejected("ValueError", f"step {names.index('torch.cos')}: unknown rank")
        return passed(*(1.0 for _ in case.outputs))

    findings, cases = localised(UNIT, refusing, group(library, mode))

    assert [finding.api for finding in findings] == blamed
    assert any(case.apis == ("torch.cos",) for case in cases)


def test_an_internal_error_of_the_compiler_is_found_in_one_part() -> None:
    def failing(case: GraphCase, target: str) -> Outcome:
        if target == COMPILED and "torch.tan" in case.apis:
            return Errored("InductorError", "assertion failed")
        return passed(*(1.0 for _ in case.outputs))

    findings, _ = localised(UNIT, failing)

    assert [(finding.oracle, finding.api) for finding in findings] == [
        ("internal-error", "torch.tan")
    ]


def test_probes_and_units_without_difference_are_not_searched() -> None:
    findings, cases = localised(UNIT, lambda case, _: passed(*(1.0 for _ in case.outputs)))

    assert (findings, cases) == ([], [])


def test_a_call_that_is_wrong_alone_is_found_without_its_part() -> None:
    def wrong_call(case: GraphCase, target: str) -> Outcome:
        names = [getattr(step, "api", "") for step in case.steps]
        start = names.index("torch.sin") if "torch.sin" in names else len(names)
        is_wrong = target == COMPILED and case.runs_stage not in {"dynamo", "aot_autograd"}
        late = {"torch.sin", "torch.cos"}
        return passed(
            *(
                7.0 if is_wrong and names[number] in late and number >= start else 1.0
                for number in case.outputs
            )
        )

    findings, cases = localised(UNIT, wrong_call)

    (finding,) = findings
    assert finding.case.apis == ("torch.sin",)
    assert finding.detail == "compile: decompositions"
    assert cases[0].outputs == (1, 2, 3, 4)
    assert not any(set(case.apis) == {"torch.exp", "torch.sin", "torch.cos"} for case in cases)


def test_outputs_that_depend_on_a_known_wrong_call_are_not_searched() -> None:
    def wrong_exp(case: GraphCase, target: str) -> Outcome:
        names = [getattr(step, "api", "") for step in case.steps]
        start = names.index("torch.exp") if "torch.exp" in names else len(names)
        is_wrong = target == COMPILED
        return passed(
            *(
                7.0 if is_wrong and start <= number and names[number] != "torch.tan" else 1.0
                for number in case.outputs
            )
        )

    unit = replace(UNIT, outputs=(1, 2, 3, 4))
    dispatcher = StubDispatcher()
    localiser = Localiser(cast("Dispatcher", dispatcher))
    ran = []
    for _ in range(3):
        outcomes = {name: (wrong_exp(unit, name),) for name in (EAGER, COMPILED)}
        localiser.note(ExecutedBatch(unit.api, (unit,), outcomes), group())
        ran.append(finished(localiser, dispatcher, wrong_exp))

    assert [[finding.api for finding in found] for found, _ in ran] == [
        ["torch.exp"],
        [],
        [],
    ]
    assert ran[1][1] == []


def test_stages_are_bisected() -> None:
    _, cases = localised(UNIT, wrong_sine)

    stages = [case.runs_stage for case in cases if case.runs_stage]
    assert len(stages) <= 3
    assert stages[0] == "lowering"


@pytest.mark.parametrize(
    ("needs_options", "found"), [(False, ("", "compile: fusion")), (True, ("rare", "compile"))]
)
def test_options_of_a_compiler_are_named_only_if_the_defect_needs_them(
    *, needs_options: bool, found: tuple[str, str]
) -> None:
    def wrong(case: GraphCase, target: str) -> Outcome:
        is_right = needs_options and not case.options
        return passed(*(1.0 for _ in case.outputs)) if is_right else wrong_sine(case, target)

    (finding,), _ = localised(replace(UNIT, options="rare"), wrong)

    assert isinstance(finding.case, GraphCase)
    assert (finding.case.options, finding.detail) == found


@pytest.mark.parametrize("outcome", [passed(1.0), Hung(60.0)], ids=["right", "hangs"])
def test_no_stage_is_named_if_none_shows_the_defect(outcome: Outcome) -> None:
    def without_stages(case: GraphCase, target: str) -> Outcome:
        return outcome if case.runs_stage else wrong_sine(case, target)

    findings, cases = localised(UNIT, without_stages)

    assert [finding.detail for finding in findings] == ["compile"]
    assert [case.runs_stage for case in cases if case.runs_stage][-1] == "vectorisation"


def test_the_outputs_of_both_sizes_are_compared() -> None:
    unit = replace(UNIT, grows=True)
    same, other = passed(1.0, 1.0), passed(1.0, 7.0)

    def twice(first: Outcome, second: Outcome) -> Outcome:
        assert isinstance(first, Passed)
        assert isinstance(second, Passed)
        items = b",".join((first.encoded, second.encoded))
        return Passed(b'["L","list",[' + items + b"],2]", 0.0)

    for run_ in (twice(same, other), twice(other, same)):
        assert different_outputs(unit, twice(same, same), run_) == [4]
    assert different_outputs(unit, twice(same, same), twice(same, same)) == []


SMALL = replace(PAIR, fill=Uniform(1, -1e-4, 1e-4))
COARSE = replace(PAIR, dtype="bfloat16")


def test_the_inputs_of_other_graphs_do_not_widen_the_tolerance() -> None:
    unit = graph(call("torch.atanh", SMALL), call("torch.exp", COARSE), outputs=(0, 1))

    def run(case: GraphCase, target: str) -> Outcome:
        small = 1e-4 if target == EAGER else 1.01e-4
        return passed(*(small if api == "torch.atanh" else 1.0 for api in case.apis))

    assert different_outputs(unit, run(unit, EAGER), run(unit, COMPILED)) == [0]
    findings, _ = localised(unit, run)
    assert [finding.api for finding in findings] == ["torch.atanh"]
    measured = replace(LEVEL.inputs(unit), condition=1e6)
    assert LEVEL.compare(unit, run(unit, EAGER), run(unit, COMPILED), measured) is None


def test_special_numbers_are_compared_in_graphs_that_have_them() -> None:
    infinite = replace(PAIR, fill=Explicit((float("inf"), float("nan"))))
    unit = graph(call("torch.exp", infinite), outputs=(0,))

    def run(case: GraphCase, target: str) -> Outcome:
        del case
        return passed(float("nan") if target == EAGER else 0.0)

    expected, _ = localised(replace(unit, is_special=True), run)
    unexpected, _ = localised(unit, run)

    assert [finding.api for finding in expected] == ["torch.exp"]
    assert unexpected == []
