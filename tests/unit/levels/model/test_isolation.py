"""Isolation of the layer that causes a disagreement; stubs replace the workers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np
from campaign_examples import member
from model_examples import ALONE, ENGINES, MODEL, alone, predicted, returned, subject

from ciguard.campaign.group import Group
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.case import case_from_json
from ciguard.domain.models import INPUT, MASKING, LayerGraph, LayerNode, ModelCase, Weights
from ciguard.domain.outcomes import Crashed, Outcome, Rejected, Stage
from ciguard.domain.values import ArrayValue, Explicit, Uniform
from ciguard.execution import JobResult, Priority
from ciguard.levels.model.isolation import Isolator
from ciguard.levels.model.wide_range import WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher, Job

A, B, C = [[1.0, 2.0, 4.0]], [[0.1, 0.2, 0.7]], [[0.1, 0.3, 0.6]]


@dataclass
class StubDispatcher:
    """Stub of the dispatcher, which collects the jobs."""

    jobs: list[Job] = field(default_factory=list)

    def add(self, job: Job, priority: Priority) -> None:
        assert priority is Priority.URGENT  # normal ones are dropped between stages
        self.jobs.append(job)


def group() -> Group:
    members = {}
    for name, identity in subject().targets.items():
        members[name] = member()
        members[name].name, members[name].identity = name, identity
    return Group(library="keras", members=members)


def executed(*outcomes: Outcome, case: ModelCase = MODEL) -> ExecutedBatch:
    row = {name: (outcome,) for name, outcome in zip(ENGINES, outcomes, strict=False)}
    return ExecutedBatch(case.api, (case,), row)


def run_isolator(
    run: ExecutedBatch, respond: Callable[[ModelCase, str], Outcome]
) -> tuple[list[Finding], list[ModelCase]]:
    """Answer all jobs of a new isolator; return its findings, and the cases that it ran."""
    dispatcher = StubDispatcher()
    return answer_jobs(Isolator(cast("Dispatcher", dispatcher)), dispatcher, run, respond)


def is_wide(case: ModelCase) -> bool:
    """Return whether a case runs a layer on numbers far from zero."""
    fills = [getattr(data, "fill", None) for data in case.data]
    return any(isinstance(fill, Uniform) and fill.high == WIDTH for fill in fills)


def answer_jobs(
    isolator: Isolator,
    dispatcher: StubDispatcher,
    run: ExecutedBatch,
    respond: Callable[[ModelCase, str], Outcome],
) -> tuple[list[Finding], list[ModelCase]]:
    isolator.note(run, group())
    findings = isolator.pump()
    cases = []
    while dispatcher.jobs:
        job = dispatcher.jobs.pop(0)
        outcomes: list[Outcome] = []
        for encoded in job.cases:
            case = case_from_json(json.loads(encoded))
            assert isinstance(case, ModelCase)
            if is_wide(case):
                outcomes.append(alone(B))
                continue
            outcomes.append(respond(case, job.target))
            cases.append(case)
        findings += isolator.take(JobResult(job, tuple(outcomes), 0.1))
        findings += isolator.pump()
    assert isolator.is_idle
    return findings, cases


UNABLE = Rejected("CannotComputeError", "no float64 here", Stage.BUILD)
RIGHT, WRONG = predicted(first=A, second=B), predicted(first=A, second=C)


def test_a_defect_of_a_layer_alone_is_a_finding_about_it() -> None:
    findings, cases = run_isolator(
        executed(RIGHT, WRONG, RIGHT),
        lambda case, target: alone(C if target == "tensorflow" and not case.dtype else B),
    )

    assert [finding.api for finding in findings] == ["keras.layers.Softmax"]
    assert findings[0].targets == ("torch", "tensorflow")
    assert [case.dtype for case in cases].count("float64") == 3 * len(ENGINES)
    assert dict(findings[0].case.origin.deviations)["second"] > 0  # type: ignore[attr-defined]


def test_a_suspect_without_a_defect_runs_again_on_its_exact_inputs() -> None:
    def respond(case: ModelCase, target: str) -> Outcome:
        if case.probe:
            return returned({"inputs": [np.array(A, dtype=np.float32)]})
        if case.dtype:
            return UNABLE
        is_explicit = isinstance(getattr(case.data[0], "fill", None), Explicit)
        return alone(C if is_explicit and target == "jax" else B)

    findings, cases = run_isolator(executed(RIGHT, RIGHT, WRONG), respond)

    assert [finding.targets for finding in findings] == [("torch", "jax")]
    assert [case.probe for case in cases].count("second") == 1
    assert findings[0].case.values[0].fill == Explicit((1.0, 2.0, 4.0))  # type: ignore[union-attr]


def test_a_layer_on_masked_inputs_runs_again_with_its_mask() -> None:
    softmax = replace(ALONE.graph.nodes[-1], inputs=("mask_x0",))
    mask = LayerNode(name="mask_x0", layer=MASKING, inputs=("x0",), shape=(3,))
    graph = replace(ALONE.graph, nodes=(*ALONE.graph.inputs, mask, softmax))
    case = replace(ALONE, api="keras.Model", graph=graph)
    apart = [
        returned({"outputs": [np.array(rows, np.float32)], "layers": {}}) for rows in (B, C, B)
    ]

    findings, cases = run_isolator(
        executed(*apart, case=case),
        lambda again, target: UNABLE if again.dtype else alone(C if target == "jax" else B),
    )

    assert [finding.api for finding in findings] == ["keras.layers.Softmax"]
    assert all(again.graph.masks == (mask,) for again in cases)
    assert all(again.data == case.data for again in cases if not again.dtype)


def test_rounding_that_only_the_model_amplifies_is_dropped() -> None:
    def respond(case: ModelCase, _: str) -> Outcome:
        return returned({"inputs": [np.array(A)]}) if case.probe else alone(B)

    findings, _ = run_isolator(executed(RIGHT, WRONG, RIGHT), respond)

    assert findings == []


def test_a_difference_that_double_precision_explains_is_dropped() -> None:
    """The results with perturbed inputs differ as much as the targets do."""

    def respond(case: ModelCase, target: str) -> Outcome:
        if case.probe:
            return returned({"inputs": [np.array(A)]})
        if case.dtype:
            return alone(np.array(B) + (0.1 if case.nudge else 0.0))
        return alone(C if target == "tensorflow" else B)

    findings, _ = run_isolator(executed(RIGHT, WRONG, RIGHT), respond)

    assert findings == []


def test_a_crash_that_no_single_layer_causes_is_a_finding_about_the_model() -> None:
    findings, cases = run_isolator(
        executed(RIGHT, Crashed("SIGSEGV"), RIGHT),
        lambda case, _: Crashed("x") if case.probe else alone(B),
    )

    assert [(finding.api, finding.oracle) for finding in findings] == [("keras.Model", "crash")]
    assert {case.api for case in cases} >= {"keras.layers.Dense", "keras.layers.Softmax"}


def test_a_crashing_layer_is_found_among_all() -> None:
    def respond(case: ModelCase, target: str) -> Outcome:
        is_crashing = case.api == "keras.layers.Softmax" and target == "tensorflow"
        return Crashed("SIGSEGV") if is_crashing or case.probe else alone(B)

    findings, _ = run_isolator(executed(RIGHT, Crashed("SIGSEGV"), RIGHT), respond)

    assert [(f.api, f.oracle, f.targets) for f in findings] == [
        ("keras.layers.Softmax", "crash", ("tensorflow",))
    ]


def test_each_new_kind_of_layer_after_a_deviating_one_runs_once() -> None:
    def respond(case: ModelCase, target: str) -> Outcome:
        is_exact = case.dtype == "float64"
        return UNABLE if is_exact else alone(C if target == "tensorflow" else B)

    dispatcher = StubDispatcher()
    isolator = Isolator(cast("Dispatcher", dispatcher))
    findings: list[str] = []
    layers_run: list[set[str]] = []
    for seed in range(3):
        run = executed(RIGHT, predicted(first=C, second=C), RIGHT, case=replace(MODEL, seed=seed))
        new_findings, cases = answer_jobs(isolator, dispatcher, run, respond)
        findings += [finding.api for finding in new_findings]
        layers_run.append({case.api for case in cases})

    dense, softmax = "keras.layers.Dense", "keras.layers.Softmax"
    assert layers_run == [
        {dense, softmax},
        {dense},
        set(),
    ]  # by then, both layers are known to deviate
    assert findings == [dense, softmax, dense]


def test_every_new_layer_runs_once_on_numbers_far_from_zero() -> None:
    dispatcher = StubDispatcher()
    isolator = Isolator(cast("Dispatcher", dispatcher))
    findings: list[Finding] = []
    cases: list[str] = []
    for seed in range(2):
        isolator.note(executed(RIGHT, RIGHT, RIGHT, case=replace(MODEL, seed=seed)), group())
        isolator.pump()
        while dispatcher.jobs:
            job = dispatcher.jobs.pop(0)
            case = case_from_json(json.loads(job.cases[0]))
            assert isinstance(case, ModelCase)
            assert is_wide(case)
            cases += [case.api] * (job.target == ENGINES[0])
            is_wrong = case.api == "keras.layers.Softmax" and job.target == "jax"
            outcomes = [alone([[np.nan] * 3] if is_wrong else B)] * len(job.cases)
            findings += isolator.take(JobResult(job, tuple(outcomes), 0.1))
            isolator.pump()

    assert set(cases) == {"keras.layers.Dense", "keras.layers.Softmax"}
    assert cases.count("keras.layers.Dense") == 1
    assert [(f.api, f.kind, f.targets[1]) for f in findings] == [
        ("keras.layers.Softmax", "nan", "jax")
    ]


def test_the_number_of_wide_range_runs_per_layer_is_limited() -> None:
    dispatcher = StubDispatcher()
    isolator = Isolator(cast("Dispatcher", dispatcher))
    cases: list[str] = []
    for units in range(1, 6):
        entry, first, second = MODEL.graph.nodes
        nodes = (entry, replace(first, config={"units": units}), second)
        case = replace(MODEL, graph=replace(MODEL.graph, nodes=nodes))
        isolator.note(executed(RIGHT, RIGHT, RIGHT, case=case), group())
        isolator.pump()
        while dispatcher.jobs:
            job = dispatcher.jobs.pop(0)
            cases += [case_from_json(json.loads(job.cases[0])).api] * (job.target == ENGINES[0])
            assert not [*isolator.take(JobResult(job, (alone(B),) * len(job.cases), 0.1))]
            isolator.pump()

    assert cases.count("keras.layers.Dense") == 3
    assert cases.count("keras.layers.Softmax") == 1


def test_the_number_of_fruitless_runs_per_kind_is_limited() -> None:
    dispatcher = StubDispatcher()
    isolator = Isolator(cast("Dispatcher", dispatcher))
    job_count = 0
    for seed in range(20):
        case = replace(MODEL, seed=seed)
        isolator.note(executed(RIGHT, WRONG, RIGHT, case=case), group())
        isolator.pump()
        while dispatcher.jobs:
            job = dispatcher.jobs.pop(0)
            job_count += 1
            decoded = case_from_json(json.loads(job.cases[0]))
            assert isinstance(decoded, ModelCase)
            out = returned({"inputs": [np.array(A)]}) if decoded.probe else alone(B)
            assert list(isolator.take(JobResult(job, (out,), 0.1))) == []
            isolator.pump()

    assert 0 < job_count <= 3 * (2 * len(ENGINES) + 1)


def test_large_inputs_are_truncated_to_their_first_rows() -> None:
    large = np.zeros((4, 8000), dtype=np.float32)

    def respond(case: ModelCase, _: str) -> Outcome:
        return returned({"inputs": [large]}) if case.probe else alone(B)

    _, cases = run_isolator(executed(RIGHT, WRONG, RIGHT), respond)

    shapes = {data.shape for case in cases for data in case.data if not case.probe}
    assert (2, 8000) in shapes or all(shape[-1] != 8000 for shape in shapes)


def test_searches_that_need_a_failed_target_are_dropped() -> None:
    dispatcher = StubDispatcher()
    isolator = Isolator(cast("Dispatcher", dispatcher))
    isolator.note(executed(RIGHT, WRONG, RIGHT), group())
    isolator.pump()

    isolator.give_up("tensorflow")

    assert [*isolator.take(JobResult(dispatcher.jobs[0], (alone(C),), 0.1))] == []
    isolator.abandon()
    assert isolator.is_idle


def one_layer(data: ArrayValue) -> ModelCase:
    node = LayerNode(
        name="alone", layer="keras.layers.Softmax", inputs=("x0",), shape=(3,),
        weights=Weights(plain=True),
    )  # fmt: skip
    source = LayerNode(name="x0", layer=INPUT, shape=(3,))
    graph = LayerGraph(nodes=(source, node), outputs=("alone",))
    return replace(MODEL, graph=graph, data=(data,), truth=data)


def test_a_layer_that_ran_alone_runs_again_on_its_own_inputs_only() -> None:
    data = ArrayValue("float32", (1, 3), Explicit((float("nan"), 1.0, 2.0)))
    right, wrong = predicted(alone=B), predicted(alone=C)

    findings, cases = run_isolator(
        executed(right, wrong, right, case=one_layer(data)),
        lambda case, target: alone(C if target == "tensorflow" and not case.dtype else B),
    )

    assert [finding.api for finding in findings] == ["keras.layers.Softmax"]
    assert {case.probe for case in cases} == {""}
    assert {str(case.data) for case in cases if not case.nudge} == {str((data,))}


def test_a_layer_that_ran_alone_is_no_finding_about_a_model() -> None:
    data = ArrayValue("float32", (1, 3), Explicit((1.0, 2.0, 4.0)))
    right, wrong = predicted(alone=B), predicted(alone=C)

    findings, cases = run_isolator(
        executed(right, wrong, right, case=one_layer(data)), lambda *_: alone(B)
    )

    assert findings == []
    assert cases
