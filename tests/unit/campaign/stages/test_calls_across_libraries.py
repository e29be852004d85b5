"""Equivalents: what is kept while exploring, and what becomes of it on the other libraries."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from baseline_examples import record
from campaign_examples import member

from ciguard.campaign.budget import Budget
from ciguard.campaign.group import Group, Member, subject_of
from ciguard.campaign.stages.equivalents import Equivalents
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Finding, PairKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Crashed, Outcome, Passed, Rejected
from ciguard.domain.records import ApiRecord
from ciguard.domain.values import Constant, TensorValue
from ciguard.execution import JobResult
from ciguard.oracles import Identity

if TYPE_CHECKING:
    from ciguard.baseline import BaselineRecord
    from ciguard.execution import Dispatcher, Job

OLD, NEW, JAX = "torch==2.12.0", "torch==2.13.0", "jax==0.10.2"
ONE_S, TWO_S = (
    Passed(b'["T","float32",[1],"AACAPw=="]', 0.1),
    Passed(b'["T","float32",[1],"AAAAQA=="]', 0.1),
)


@dataclass
class FakeDispatcher:
    """A dispatcher that stores jobs."""

    jobs: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        self.jobs.append(job)


def case(api: str = "torch.sum", **changes: object) -> ApiCall:
    x = TensorValue("float32", (1,), Constant(1.0))
    made = ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(x,))
    return replace(made, **changes)  # type: ignore[arg-type]


def target(name: str, api: str) -> Member:
    library = name.partition("=")[0]
    made = member()
    made.name = name
    made.identity = Identity(
        request=name, packages=(), version="1", device="cpu", library=library, engine=library
    )
    made.catalogue = {api: ApiRecord(api=api, kind=CallKind.FUNCTION, parameters=())}
    return made


def groups(*, jax_api: str = "jax.numpy.sum") -> dict[str, Group]:
    members = [target(name, "torch.sum") for name in (OLD, NEW)]
    return {
        "torch": Group(library="torch", members={m.name: m for m in members}),
        "jax": Group(library="jax", members={JAX: target(JAX, jax_api)}),
    }


def executed(*cases: ApiCall, outcome: Outcome = ONE_S) -> ExecutedBatch:
    outcomes = {name: (outcome,) * len(cases) for name in (OLD, NEW)}
    return ExecutedBatch("torch.sum", cases, outcomes)


def started(
    dispatcher: FakeDispatcher, *seen: ExecutedBatch, of: dict[str, Group] | None = None
) -> Equivalents:
    equivalents = Equivalents(cast("Dispatcher", dispatcher), of or groups())
    for batch in seen:
        equivalents.note(batch)
    equivalents.start([])
    equivalents.pump()
    return equivalents


def answer(equivalents: Equivalents, job: Job, *outcomes: Outcome) -> list[Finding]:
    list(equivalents.take(JobResult(job, outcomes, 0.1)))
    return list(equivalents.findings())


def stored(*targets: str) -> BaselineRecord:
    plain = record()
    exhibit = replace(
        plain.representative,
        oracle="differential",
        pair=PairKind.LIBRARY,
        library="jax",
        api="jax.numpy.sum",
        case=case("jax.numpy.sum"),
    )
    return replace(plain, representative=exhibit, targets=targets)


# --- what is kept ---------------------------------------------------------------------------------


def test_a_passed_call_runs_on_the_other_library_only() -> None:
    dispatcher = FakeDispatcher()

    started(dispatcher, executed(case()))

    (job,) = dispatcher.jobs
    assert job.target == JAX
    assert json.loads(job.cases[0])[0] == "jax.numpy.sum"


def test_only_passed_conforming_calls_without_a_relation_are_kept() -> None:
    dispatcher = FakeDispatcher()

    equivalents = started(
        dispatcher,
        executed(case(), outcome=Rejected("ValueError", "no")),
        executed(case(intent=Intent.BOUNDARY), case(relation="same call twice")),
    )

    assert not dispatcher.jobs
    assert equivalents.is_idle


def test_calls_of_one_api_are_kept_up_to_a_limit() -> None:
    dispatcher = FakeDispatcher()

    started(dispatcher, executed(*[case(seed=seed) for seed in range(100)]))

    assert 0 < sum(len(job.cases) for job in dispatcher.jobs) < 50


def test_one_library_alone_keeps_nothing() -> None:
    dispatcher = FakeDispatcher()

    started(dispatcher, executed(case()), of={"torch": groups()["torch"]})

    assert not dispatcher.jobs


def test_a_library_without_the_api_is_omitted() -> None:
    dispatcher = FakeDispatcher()

    started(dispatcher, executed(case()), of=groups(jax_api="jax.numpy.mean"))

    assert not dispatcher.jobs


# --- what becomes of it ---------------------------------------------------------------------------


def test_numbers_that_differ_are_a_finding_between_the_first_targets() -> None:
    dispatcher = FakeDispatcher()
    equivalents = started(dispatcher, executed(case()))

    (finding,) = answer(equivalents, dispatcher.jobs[0], TWO_S)

    assert finding.targets == (OLD, JAX)
    assert finding.case == case("jax.numpy.sum")
    assert equivalents.is_idle


def test_a_finding_is_judged_again_with_the_targets_of_all_libraries() -> None:
    dispatcher = FakeDispatcher()
    (finding,) = answer(started(dispatcher, executed(case())), dispatcher.jobs[0], TWO_S)

    assert set(subject_of(groups(), finding).targets) == {OLD, NEW, JAX}
    alone = replace(finding, pair=PairKind.VERSION)
    assert set(subject_of(groups(), alone).targets) == {JAX}


def test_a_crash_on_the_other_library_is_reported_with_its_own_call() -> None:
    dispatcher = FakeDispatcher()
    equivalents = started(dispatcher, executed(case()))

    ((group, ran),) = equivalents.take(JobResult(dispatcher.jobs[0], (Crashed("SIGSEGV"),), 0.1))

    assert (group.library, ran.api) == ("jax", "jax.numpy.sum")
    assert list(equivalents.findings()) == []


def test_calls_after_a_hang_are_dropped() -> None:
    dispatcher = FakeDispatcher()
    equivalents = started(dispatcher, executed(case(), case(seed=1)))

    assert answer(equivalents, dispatcher.jobs[0], ONE_S) == []
    assert equivalents.is_idle


def test_a_failed_target_is_not_awaited() -> None:
    dispatcher = FakeDispatcher()
    equivalents = started(dispatcher, executed(case()))

    equivalents.give_up(JAX)

    assert list(equivalents.findings()) == []
    assert equivalents.is_idle


# --- what is known --------------------------------------------------------------------------------


def test_a_known_difference_is_replayed_on_its_targets() -> None:
    dispatcher = FakeDispatcher()
    equivalents = Equivalents(cast("Dispatcher", dispatcher), groups())

    equivalents.start([stored(NEW, JAX)])
    equivalents.pump()
    for job in dispatcher.jobs:
        answer(equivalents, job, ONE_S)

    assert {job.target for job in dispatcher.jobs} == {NEW, JAX}
    assert list(equivalents.replayed.values()) == [frozenset({NEW, JAX})]


def test_a_difference_of_an_absent_target_is_not_replayed() -> None:
    equivalents = Equivalents(cast("Dispatcher", FakeDispatcher()), groups())

    equivalents.start([stored(NEW, "jax==0.9.0")])

    assert equivalents.is_idle
    assert equivalents.replayed == {}


def test_exploring_leaves_time_for_comparing_several_libraries() -> None:
    one, several = Budget(100.0), Budget(100.0)

    several.spans_libraries = True

    assert several.explore_until < one.explore_until
    assert 0 < several.libraries_until - time.monotonic() <= 10
    assert one.libraries_until <= time.monotonic()
