from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, TWO, bucket, call, crash, difference, group, member
from program_examples import positive

from ciguard.campaign.finding_collector import FindingCollector
from ciguard.campaign.journal import Journal, read_journal
from ciguard.campaign.stream import ExecutedBatch
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.events import BucketFlaky, BucketOpened, Event
from ciguard.domain.findings import Confirmation, Finding, PairKind, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Crashed, Passed, Rejected
from ciguard.domain.policy import Action, Policy, PolicyRule
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import LiteralValue
from ciguard.triage import ConfirmationResult, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.campaign.group import Group
    from ciguard.triage import Confirmer


@dataclass
class Proposals:
    """A confirmer that stores proposed findings."""

    proposed: list[tuple[str, Finding]] = field(default_factory=list)

    def propose(self, key: str, finding: Finding) -> None:
        self.proposed.append((key, finding))


@dataclass
class Bench:
    """An collector and what it talks to."""

    collector: FindingCollector
    proposals: Proposals
    group: Group
    folder: Path

    def meet(self, *findings: Finding) -> list[Event]:
        return [event for finding in findings for event in self.collector.propose(finding)]

    def settle(
        self, finding: Finding, confirmation: Confirmation | None, *, of: Finding | None = None
    ) -> list[Event]:
        settled = ConfirmationResult(key_of(of or finding), finding, confirmation)
        return list(self.collector.settle([settled]))


def key_of(finding: Finding) -> str:
    return fingerprint(finding).key


@pytest.fixture
def known() -> list[str]:
    return []


@pytest.fixture
def policy() -> Policy:
    return Policy()


@pytest.fixture
def bench(tmp_path: Path, known: list[str], policy: Policy) -> Iterator[Bench]:
    proposals, tested = Proposals(), group(member(ONE), member(TWO))
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        collector = FindingCollector(
            confirmer=cast("Confirmer", proposals),
            journal=journal,
            groups={"planted": tested},
            known=known,
            policy=policy,
        )
        yield Bench(collector, proposals, tested, tmp_path)


def test_findings_of_one_cause_are_proposed_once(bench: Bench) -> None:
    events = bench.meet(crash(argument=-1), crash(argument=-2), crash("checked"))

    assert events == []
    assert [finding.api for _, finding in bench.proposals.proposed] == [
        "planted.fragile",
        "planted.checked",
    ]


def test_a_finding_is_recorded_before_it_is_confirmed(bench: Bench) -> None:
    bench.meet(crash())

    assert read_journal(bench.folder).candidates == {key_of(crash()): crash()}


def test_a_confirmed_finding_opens_its_bucket_once(bench: Bench) -> None:
    bench.meet(crash())

    first = bench.settle(crash(), Confirmation.CONFIRMED)
    again = bench.meet(crash(argument=-7))

    (opened,) = first
    assert isinstance(opened, BucketOpened)
    assert opened.bucket.fingerprint == key_of(crash())
    assert again == []
    assert len(bench.proposals.proposed) == 1
    assert [b.count for b in bench.collector.buckets()] == [2]
    assert read_journal(bench.folder).candidates == {}


def test_a_finding_explained_by_rounding_is_dropped_but_a_later_one_is_not(bench: Bench) -> None:
    bench.meet(crash())

    events = bench.settle(crash(), None)
    bench.meet(crash(argument=-2))

    assert events == []
    assert bench.collector.buckets() == []
    assert not bench.group.unstable
    assert len(bench.proposals.proposed) == 2


def test_a_confirmation_may_give_another_fingerprint(bench: Bench) -> None:
    met, confirmed = crash("fragile"), crash("checked")
    bench.meet(met, crash(argument=-2))

    bench.settle(confirmed, Confirmation.CONFIRMED, of=met)
    events = bench.meet(crash(argument=-3))

    assert events == []
    (only,) = bench.collector.buckets()
    assert (only.fingerprint, only.count) == (key_of(confirmed), 3)


def test_a_finding_confirmed_as_an_open_bucket_opens_no_second(bench: Bench) -> None:
    met, confirmed = crash("fragile"), crash("checked")
    bench.meet(met, confirmed)
    bench.settle(confirmed, Confirmation.CONFIRMED)

    assert bench.settle(confirmed, Confirmation.CONFIRMED, of=met) == []
    assert [b.fingerprint for b in bench.collector.buckets()] == [key_of(confirmed)]


def test_a_flaky_finding_gets_two_more_candidates(bench: Bench) -> None:
    events: list[Event] = []
    for _ in range(5):
        events += bench.meet(crash())
        events += bench.settle(crash(), Confirmation.FLAKY)

    assert [type(event) for event in events] == [BucketFlaky]
    assert len(bench.proposals.proposed) == 3
    assert [b.confirmation for b in bench.collector.buckets()] == [Confirmation.FLAKY]


def test_a_flaky_finding_that_is_confirmed_later_is_confirmed(bench: Bench) -> None:
    bench.meet(crash())
    bench.settle(crash(), Confirmation.FLAKY)
    bench.meet(crash())

    bench.settle(crash(), Confirmation.CONFIRMED)

    assert [b.confirmation for b in bench.collector.buckets()] == [Confirmation.CONFIRMED]


def test_a_flaky_finding_confirmed_under_another_fingerprint_leaves_one_bucket(
    bench: Bench,
) -> None:
    met, confirmed = crash("fragile"), crash("checked")
    bench.meet(met)
    bench.settle(met, Confirmation.FLAKY)
    bench.meet(confirmed)
    bench.settle(confirmed, Confirmation.CONFIRMED)
    bench.meet(met)

    bench.settle(confirmed, Confirmation.CONFIRMED, of=met)

    assert [b.fingerprint for b in bench.collector.buckets()] == [key_of(confirmed)]


def test_a_flaky_difference_makes_its_api_unstable(bench: Bench) -> None:
    bench.meet(difference("noise"))

    bench.settle(difference("noise"), Confirmation.FLAKY)

    assert "unstable" in bench.group.subject("planted.noise").tags
    assert "unstable" not in bench.group.subject("planted.cube").tags


def test_a_flaky_crash_makes_no_api_unstable(bench: Bench) -> None:
    bench.meet(crash())

    bench.settle(crash(), Confirmation.FLAKY)

    assert bench.group.unstable == set()


def test_an_unconfirmed_finding_is_pending_and_a_candidate_for_a_resumed_run(
    bench: Bench,
) -> None:
    bench.meet(crash())

    events = bench.settle(crash(), Confirmation.PENDING)

    assert events == []
    assert [b.confirmation for b in bench.collector.buckets()] == [Confirmation.PENDING]
    assert list(read_journal(bench.folder).candidates) == [key_of(crash())]


@pytest.mark.parametrize("known", [[key_of(crash())]])
def test_a_known_bucket_needs_no_confirmation(bench: Bench) -> None:
    (opened,) = bench.meet(crash())

    assert isinstance(opened, BucketOpened)
    assert opened.bucket.confirmation is Confirmation.CONFIRMED
    assert bench.proposals.proposed == []


def test_buckets_of_the_interrupted_run_are_restored(bench: Bench) -> None:
    confirmed = bucket(crash("checked"))
    bench.collector.restore(key_of(crash("fragile")), confirmed)
    bench.collector.restore(
        key_of(crash("divide")), bucket(crash("divide"), confirmation=Confirmation.FLAKY)
    )

    events = bench.meet(crash("fragile"), crash("checked"), crash("divide"))

    assert events == []
    assert bench.proposals.proposed == []
    assert {b.fingerprint for b in bench.collector.buckets()} == {
        confirmed.fingerprint,
        key_of(crash("divide")),
    }


def test_a_batch_is_judged_case_by_case_over_all_targets(bench: Bench) -> None:
    cases = (call(argument=1), call(argument=-1), call(argument=2))
    fine, dead = Passed(b'["i","1"]', 0.1), Crashed("SIGSEGV")
    executed = ExecutedBatch(
        "planted.fragile",
        cases,
        {ONE: (fine, dead, fine), TWO: (fine, dead, Rejected("ValueError", "no"))},
    )

    list(bench.collector.take(executed, bench.group))

    met = {(f.oracle, f.kind): f for _, f in bench.proposals.proposed}
    assert set(met) == {("crash", "signal"), ("differential", "refused")}
    assert met["crash", "signal"].case == cases[1]
    assert met["crash", "signal"].targets == (ONE, TWO)
    assert met["differential", "refused"].case == cases[2]


def test_a_program_that_fails_on_the_only_target_is_judged(bench: Bench) -> None:
    case = positive()
    refused = Rejected("RuntimeError", "line 8: the workspace was freed already")
    executed = ExecutedBatch(case.api, (case,), {ONE: (refused,)})

    list(bench.collector.take(executed, group(member(ONE))))

    proposed = [finding for _, finding in bench.proposals.proposed]
    assert [(f.oracle, f.kind) for f in proposed] == [("derivation", "positive-failed")]


def test_restored_counts_belong_to_the_confirmed_bucket(bench: Bench) -> None:
    confirmed = bucket(crash("checked"))
    provisional = key_of(crash("fragile"))
    bench.collector.restore(provisional, confirmed)
    bench.meet(crash("divide"))

    bench.collector.restore_counts({provisional: 3, confirmed.fingerprint: 4})

    assert bench.collector.counts == {confirmed.fingerprint: 7}


def test_a_passed_call_is_judged_by_the_constraint_that_it_violates(
    bench: Bench,
) -> None:
    how = ParameterRecord(name="n", annotation="Literal['sum', 'mean']")
    described = ApiRecord(api="planted.total", kind=CallKind.FUNCTION, parameters=(how,))
    only = member(ONE)
    only.catalogue = {"planted.total": described}
    tested = group(only)
    focused = ApiCall(
        api="planted.total",
        kind=CallKind.FUNCTION,
        arguments=(LiteralValue("median"),),
        intent=Intent.VIOLATING,
        focus="n",
    )
    executed = ExecutedBatch(
        "planted.total",
        (focused, replace(focused, focus="")),
        {ONE: (Passed(b'["i","1"]', 0.1),) * 2},
    )

    list(bench.collector.take(executed, tested))

    proposed = [finding for _, finding in bench.proposals.proposed]
    assert [(f.oracle, f.detail) for f in proposed] == [("boundary", "n: member")]


@pytest.mark.parametrize("policy", [Policy(rules=(PolicyRule("crash/*", Action.OFF),))])
def test_a_finding_that_the_policy_ignores_is_neither_confirmed_nor_kept(bench: Bench) -> None:
    bench.meet(crash(), difference())
    events = bench.settle(crash(), Confirmation.CONFIRMED)

    assert [finding.oracle for _, finding in bench.proposals.proposed] == ["differential"]
    assert (events, bench.collector.buckets()) == ([], [])


@pytest.mark.parametrize(
    ("is_refuted", "confirmation", "events"),
    [(False, Confirmation.CONFIRMED, []), (True, Confirmation.FLAKY, [BucketFlaky])],
)
def test_counts_replace_the_evidence_of_a_bucket_and_may_refute_it(
    bench: Bench, *, is_refuted: bool, confirmation: Confirmation, events: list[type[Event]]
) -> None:
    bench.meet(difference())
    bench.settle(difference(), Confirmation.CONFIRMED)
    (opened,) = bench.collector.by_severity()
    evidence = replace(opened.finding.evidence, observed="2 instructions")
    counted = replace(opened.finding, evidence=evidence)

    sent = list(bench.collector.set_counts(opened, counted, is_refuted=is_refuted))

    assert list(map(type, sent)) == events
    (kept,) = bench.collector.buckets()
    assert kept.confirmation is confirmation
    assert kept.finding.evidence.observed == "2 instructions"


def minor(detail: str, *, function: str = "cube", severity: Severity = Severity.LOW) -> Finding:
    one = replace(difference(function), kind="exception", severity=severity, detail=detail)
    return replace(one, pair=PairKind.VERSION)


def test_few_minor_differences_of_one_kind_are_proposed_for_an_api(bench: Bench) -> None:
    details = ("A vs B", "A vs C", "A vs D", "A vs E")

    bench.meet(*map(minor, details), minor("A vs B"), minor("A vs D", function="double"))

    proposed = [(finding.api, finding.detail) for _, finding in bench.proposals.proposed]
    assert proposed == [
        ("planted.cube", "A vs B"),
        ("planted.cube", "A vs C"),
        ("planted.double", "A vs D"),
    ]


def test_every_difference_that_may_fail_a_check_is_proposed(bench: Bench) -> None:
    bench.meet(*(minor(f"A vs {name}", severity=Severity.MEDIUM) for name in "BCDE"))

    assert len(bench.proposals.proposed) == 4
