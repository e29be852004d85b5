"""The oracle `memory`, and how targets under the memory guard are judged."""

from __future__ import annotations

from dataclasses import replace

from finding_examples import crash
from outcome_examples import NEW, case, identity, passed, subject

from ciguard.domain.findings import Finding, Severity
from ciguard.domain.outcomes import Crashed, Errored, Hung, Outcome, Rejected
from ciguard.domain.policy import FindingClass, class_of
from ciguard.oracles import Subject, judge
from ciguard.targets import GUARDED
from ciguard.triage import cause_of, fingerprint
from ciguard.triage.buckets import Buckets

HELD = f"{NEW} {GUARDED}"
LINE = "memory guard: {cause}: 64 bytes behind {block}, 32 bytes"


def invalid(cause: str = "out-of-bounds read", block: str = "argument 1 (int64[4])") -> Crashed:
    return Crashed(cause, (), f"\n{LINE.format(cause=cause, block=block)}\n")


def guarded_subject() -> Subject:
    targets = {NEW: identity(NEW), HELD: identity(NEW, mode=GUARDED)}
    return replace(
        subject(), targets=targets, guarded=frozenset({HELD}), parameters=("input", "output_size")
    )


def judged(**outcomes: Outcome) -> list[Finding]:
    names = {"plain": NEW, "guarded": HELD}
    return judge(case(), {names[key]: one for key, one in outcomes.items()}, guarded_subject())


def test_an_invalid_access_is_a_finding_that_names_the_parameter() -> None:
    (finding,) = judged(plain=passed(1.0), guarded=invalid())

    assert (finding.oracle, finding.kind) == ("memory", "out-of-bounds-read")
    assert finding.targets == (HELD,)
    assert finding.message == "torch.fold reads 64 bytes behind the end of input (int64[4])"
    assert finding.detail == "input"
    assert class_of(finding) is FindingClass.SECURITY


def test_writes_and_the_use_of_freed_memory_are_more_severe_than_reads() -> None:
    severities = {
        cause: judged(guarded=invalid(cause))[0].severity
        for cause in ("out-of-bounds read", "out-of-bounds write", "use after free")
    }
    assert list(severities.values()) == [Severity.HIGH, Severity.CRITICAL, Severity.CRITICAL]


def test_other_outcomes_of_a_guarded_target_are_not_judged() -> None:
    for outcome in (passed(2.0), Rejected("ValueError", "no"), Errored("X", "y"), Hung(5.0)):
        assert judged(plain=passed(1.0), guarded=outcome) == []
        assert judged(guarded=outcome) == []


def test_an_ordinary_crash_of_a_guarded_target_is_a_crash() -> None:
    (finding,) = judged(plain=passed(1.0), guarded=Crashed("SIGSEGV"))
    assert (finding.oracle, finding.targets) == ("crash", (HELD,))


def test_a_crash_without_the_guard_is_a_finding_of_its_own_with_the_same_cause() -> None:
    findings = judged(plain=Crashed("SIGSEGV"), guarded=invalid())

    assert [finding.oracle for finding in findings] == ["crash", "memory"]
    collected = Buckets()
    crashed, silent = [collected.add(finding) for finding in findings]
    assert crashed.fingerprint != silent.fingerprint
    assert cause_of(crashed) == cause_of(silent)


def test_the_fingerprint_depends_on_kind_and_argument_but_not_on_distance() -> None:
    def key(outcome: Crashed) -> str:
        (finding,) = judged(guarded=outcome)
        return fingerprint(finding).key

    far = invalid()
    near = replace(far, log=far.log.replace("64 bytes", "8 bytes").replace("[4]", "[9]"))
    assert key(far) == key(near)
    other = invalid(block="argument 2 (int64[4])")
    assert (
        len({key(far), key(other), key(invalid("use after free")), key(invalid(block="a block"))})
        == 4
    )


def test_the_fingerprint_of_other_crashes_has_no_detail() -> None:
    assert "detail" not in dict(fingerprint(crash()).grouping)
