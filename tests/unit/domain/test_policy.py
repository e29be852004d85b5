"""Classes of findings, and actions of the policy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from finding_examples import crash, finding, pair

from ciguard.domain.findings import Evidence, Finding, Severity
from ciguard.domain.outcomes import Hung, Passed, Rejected
from ciguard.domain.policy import Action, FindingClass, Policy, PolicyRule, class_of

PASSED = Passed(b"null", 0.1)
REFUSED = Rejected("ValueError", "no")
CORRUPTIONS = (
    "malloc(): corrupted top size",
    "free(): invalid pointer",
    "double free or corruption (out)",
    "*** stack smashing detected ***: terminated",
    "AddressSanitizer: heap-buffer-overflow on address 0x602",
    "[e] Caught segfault at address 0x7f0012345678, thread_name: 'main'",
)


def finding_of(oracle: str, kind: str = "") -> Finding:
    return replace(finding(PASSED), oracle=oracle, kind=kind or oracle)


@pytest.mark.parametrize("log", CORRUPTIONS)
def test_abort_with_a_corruption_message_is_a_security_crash(log: str) -> None:
    assert class_of(crash(log, cause="SIGABRT")) is FindingClass.SECURITY


@pytest.mark.parametrize("cause", ["SIGSEGV", "SIGBUS"])
def test_memory_fault_at_an_unknown_address_is_a_security_crash(cause: str) -> None:
    assert class_of(crash(cause=cause)) is FindingClass.SECURITY


@pytest.mark.parametrize(
    ("cause", "log"),
    [
        ("SIGFPE", ""),
        ("SIGABRT", "F tensor.cc:42] Check failed: n <= 3 (5 vs. 3)"),
        ("SIGILL", ""),
        ("exit 3", ""),
        ("SIGSEGV", "Caught segfault at address 0x8, thread_name: ''"),
        ("SIGSEGV", "Caught segfault at address 0, thread_name: ''"),
        ("SIGSEGV", "AddressSanitizer: SEGV on unknown address 0x000000000000 (pc 0x1)"),
    ],
)
def test_failed_checks_arithmetic_faults_and_null_pointers_are_ordinary_crashes(
    cause: str, log: str
) -> None:
    assert class_of(crash(log, cause=cause)) is FindingClass.CRASH


@pytest.mark.parametrize(
    ("defect", "expected"),
    [
        (finding_of("hang"), FindingClass.HANG),
        (finding_of("hang", "slow"), FindingClass.PERFORMANCE),
        (finding_of("performance", "leak"), FindingClass.PERFORMANCE),
        (finding_of("metamorphic", "precision"), FindingClass.WRONG_RESULT),
        (finding_of("boundary", "accepted-illegal"), FindingClass.ACCEPTED_ILLEGAL),
        (finding_of("derivation", "accepted-illegal"), FindingClass.ACCEPTED_ILLEGAL),
        (finding_of("derivation", "positive-failed"), FindingClass.REFUSED_LEGAL),
        (finding_of("growth", "memory-grows"), FindingClass.PERFORMANCE),
        (finding_of("internal-error", "RuntimeError"), FindingClass.INTERNAL_ERROR),
        (finding_of("exhaustion", "memory"), FindingClass.EXHAUSTION),
        (finding_of("of another package"), FindingClass.OTHER),
        (pair(PASSED, PASSED, kind="dtype"), FindingClass.WRONG_RESULT),
        (pair(PASSED, REFUSED, kind="refused"), FindingClass.REGRESSION),
        (pair(REFUSED, PASSED, kind="accepted"), FindingClass.CHANGE),
        (pair(REFUSED, REFUSED, kind="exception"), FindingClass.CHANGE),
    ],
)
def test_class_of_maps_each_oracle_and_kind_to_its_class(
    defect: Finding, expected: FindingClass
) -> None:
    assert class_of(defect) is expected
    assert expected.words


def test_forbidden_input_is_a_defect_if_accepted_and_a_change_if_refused() -> None:
    law = Evidence(law="'tau' is at least 0", source="the documentation: “non-negative”")

    accepted = replace(pair(REFUSED, PASSED, kind="accepted"), evidence=law)
    refused = replace(pair(PASSED, REFUSED, kind="refused"), evidence=law)

    assert class_of(accepted) is FindingClass.ACCEPTED_ILLEGAL
    assert class_of(refused) is FindingClass.CHANGE


@pytest.mark.parametrize(
    ("severity", "action"),
    [
        (Severity.CRITICAL, Action.FAIL),
        (Severity.HIGH, Action.FAIL),
        (Severity.MEDIUM, Action.FILE),
        (Severity.LOW, Action.REPORT),
        (Severity.INFO, Action.REPORT),
    ],
)
def test_action_without_a_rule_follows_severity(severity: Severity, action: Action) -> None:
    defect = replace(crash(), severity=severity)

    assert Policy(fail_on=Severity.HIGH).action(defect) is action


@pytest.mark.parametrize(
    "selector", ["hang", "hang/*", "hang/hang", "torch.*", "torch.fold", "*/*", "*.*"]
)
def test_rule_selects_by_class_by_oracle_and_kind_or_by_api(selector: str) -> None:
    hung = replace(finding(Hung(5.0)), oracle="hang", kind="hang")

    assert Policy(rules=(PolicyRule(selector, Action.OFF),)).action(hung) is Action.OFF
    assert PolicyRule(selector, Action.OFF).selects(finding_of("metamorphic", "precision")) is (
        selector in {"torch.*", "torch.fold", "*/*", "*.*"}
    )


def test_action_follows_the_last_rule_that_selects_the_finding() -> None:
    rules = (PolicyRule("torch.*", Action.FAIL), PolicyRule("security-crash", Action.REPORT))

    assert Policy(rules=rules).action(crash()) is Action.REPORT
    assert Policy(rules=rules[::-1]).action(crash()) is Action.FAIL


def test_reads_documentation_unless_a_rule_turns_it_off() -> None:
    off = PolicyRule("documentation", Action.OFF)

    assert Policy().reads_documentation
    assert not Policy(rules=(off,)).reads_documentation
    assert Policy(rules=(off, PolicyRule("documentation", Action.REPORT))).reads_documentation
