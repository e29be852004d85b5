"""A call that exceeds its limit is waited for: it is slow if it returns, and hangs if not."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import planted
import pytest
from ciguard_planted import adapter as planted_adapter

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Confirmation, Finding, Severity
from ciguard.domain.outcomes import Crashed, Hung, Passed
from ciguard.domain.policy import FindingClass, class_of
from ciguard.domain.values import LiteralValue
from ciguard.execution import Dispatcher, Job, Limits, ServerProcess, WorkerSpec
from ciguard.oracles import Identity, Subject, judge
from ciguard.oracles.relations import encode
from ciguard.triage import Confirmer, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.outcomes import Outcome
    from ciguard.triage import ConfirmationResult

OLD, NEW = "planted==1.0", "planted==2.0"
LIMIT_S = 0.5


def spec(name: str) -> WorkerSpec:
    folders = {Path(planted.__file__).parent.parent, Path(planted_adapter.__file__).parent}
    return WorkerSpec(
        name=name,
        python=Path(sys.executable),
        adapter=Path(planted_adapter.__file__),
        variables={"PLANTED_VERSION": name.partition("==")[2]},
        readable=(Path(sys.prefix), Path(sys.base_prefix), *folders),
        limits=Limits(case_s=LIMIT_S, memory_mib=256),
    )


@pytest.fixture(scope="module")
def dispatcher() -> Iterator[Dispatcher]:
    with Dispatcher() as running:
        for started in running.start([spec(OLD), spec(NEW)]).values():
            assert isinstance(started, ServerProcess), started
        yield running


def subject_of(finding: Finding) -> Subject:
    return subject(finding.api)


def subject(api: str) -> Subject:
    targets = {
        name: Identity(request=name, packages=(), version=name, device="cpu") for name in (OLD, NEW)
    }
    return Subject(library="planted", api=api, targets=targets)


def api_call(api: str, argument: int | str) -> ApiCall:
    return ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(LiteralValue(argument),))


def hanging(dispatcher: Dispatcher, how: str) -> Finding:
    """Run a call within the usual limit and return what the hang oracle says."""
    case = api_call("planted.meet", how)
    outcomes: dict[str, Outcome] = {}
    for name in (OLD, NEW):
        dispatcher.add(Job(name, "first", (encode(case),)))
    while len(outcomes) < 2:
        outcomes.update({r.job.target: r.outcomes[0] for r in dispatcher.wait(30.0)})
    in_order = {name: outcomes[name] for name in (OLD, NEW)}
    (finding,) = judge(case, in_order, subject(case.api))
    return finding


def settled(dispatcher: Dispatcher, finding: Finding, *, time_left_s: float) -> ConfirmationResult:
    confirmer = Confirmer(
        dispatcher, repetitions=2, subject_of=subject_of, time_left=lambda: time_left_s
    )
    confirmer.propose(fingerprint(finding).key, finding)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        confirmer.pump()
        for result in dispatcher.wait(1.0):
            if found := confirmer.take(result):
                return found[0]
    pytest.fail("nothing was settled")


def test_call_that_returns_after_the_timeout_is_slow_with_times_and_targets(
    dispatcher: Dispatcher,
) -> None:
    proposed = hanging(dispatcher, "long rest")

    found = settled(dispatcher, proposed, time_left_s=600.0)

    slow = found.finding
    assert (proposed.oracle, proposed.kind, proposed.targets) == ("hang", "hang", (NEW,))
    assert (slow.oracle, slow.kind, found.confirmation) == ("hang", "slow", Confirmation.CONFIRMED)
    assert (slow.severity, class_of(slow)) == (Severity.LOW, FindingClass.PERFORMANCE)
    assert slow.message.startswith(f"planted.meet takes 1.5 s on {NEW}, and returns in ")
    assert slow.message.endswith(f" s on {OLD}")
    assert isinstance(slow.outcomes[NEW], Passed)
    assert fingerprint(slow).key != fingerprint(proposed).key


def test_call_that_never_returns_hangs_with_the_waiting_time(
    dispatcher: Dispatcher,
) -> None:
    found = settled(dispatcher, hanging(dispatcher, "sleep"), time_left_s=16.0)

    hung = found.finding
    assert (hung.kind, found.confirmation) == ("hang", Confirmation.CONFIRMED)
    assert hung.message == "planted.meet does not return within 2 s"
    assert hung.targets == (OLD, NEW)
    assert {o.limit_s for o in hung.outcomes.values() if isinstance(o, Hung)} == {2.0}


def test_hang_is_waited_for_at_least_three_times_the_timeout(
    dispatcher: Dispatcher,
) -> None:
    found = settled(dispatcher, hanging(dispatcher, "sleep"), time_left_s=-1.0)

    assert found.finding.message == "planted.meet does not return within 1.5 s"


def test_other_candidates_do_not_wait_for_a_hang(dispatcher: Dispatcher) -> None:
    hang, call = hanging(dispatcher, "sleep"), api_call("planted.fragile", -1)
    crashed = dict.fromkeys((OLD, NEW), Crashed("SIGSEGV", (), ""))
    (crash,) = judge(call, crashed, subject(call.api))
    confirmer = Confirmer(dispatcher, repetitions=2, subject_of=subject_of)
    confirmer.propose("hang", hang)
    confirmer.pump(is_patient=True)
    confirmer.propose("crash", crash)

    settled_in_order: list[str] = []
    while not confirmer.is_idle:
        confirmer.pump(is_patient=True)
        for result in dispatcher.wait(1.0):
            settled_in_order += [one.key for one in confirmer.take(result)]

    assert settled_in_order == ["crash", "hang"]
