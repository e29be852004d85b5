"""Can a program meet a defect: what only handles of another kind show weighs little."""

from __future__ import annotations

from dataclasses import replace

import pytest
from finding_examples import call, finding

from ciguard.domain.causes import Cause
from ciguard.domain.findings import Bucket, Severity, bucket_from_json, bucket_to_json
from ciguard.domain.outcomes import Crashed, Errored, Outcome
from ciguard.domain.policy import FindingClass, class_of
from ciguard.domain.values import CallValue, ListValue, LiteralValue, Value
from ciguard.triage import Buckets, with_reach

CAUSE = Cause(name="g1:" + "0" * 16, kind="failed check", text="tensor.cc: dtype() == expected")
RAW = "tensorflow.raw_ops.ResourceApplyAdagrad"
TABLE = CallValue("tensorflow.raw_ops.AnonymousMutableHashTable")
VARIABLE = CallValue(
    "builtins.getattr",
    (CallValue("tensorflow.Variable", (LiteralValue(1.0),)), LiteralValue("handle")),
)
DEAD = Crashed("SIGABRT")


def bucket(api: str, *arguments: Value, outcome: Outcome = DEAD) -> Bucket:
    met = finding(outcome, case=call(*arguments, api=api))
    oracle = "crash" if isinstance(outcome, Crashed) else "internal-error"
    severity = Severity.CRITICAL if oracle == "crash" else Severity.HIGH
    return replace(Buckets().add(replace(met, oracle=oracle, severity=severity)), cause=CAUSE)


@pytest.mark.parametrize("handle", [TABLE, VARIABLE, ListValue((LiteralValue(1), TABLE))])
@pytest.mark.parametrize("outcome", [DEAD, Crashed("SIGSEGV"), Errored("InternalError", "bad")])
def test_a_raw_entry_point_with_a_handle_is_unreachable(handle: Value, outcome: Outcome) -> None:
    (weighed,) = with_reach([bucket(RAW, handle, outcome=outcome)])

    assert weighed.finding.severity is Severity.LOW
    assert class_of(weighed.finding) is FindingClass.UNREACHABLE
    assert "that public calls do not give it" in weighed.finding.evidence.unreachable


def test_none_for_a_tensor_of_a_raw_operator_is_unreachable_whatever_fails_then() -> None:
    met = bucket("torch.ops.aten.mish_backward", LiteralValue(None))
    evidence = replace(met.finding.evidence, undefined="grad_output")

    (weighed,) = with_reach([replace(met, finding=replace(met.finding, evidence=evidence))])

    assert weighed.finding.severity is Severity.LOW
    assert class_of(weighed.finding) is FindingClass.UNREACHABLE
    assert "None for a tensor (grad_output)" in weighed.finding.evidence.unreachable
    assert with_reach([met]) == [met]


@pytest.mark.parametrize(
    "reachable",
    [
        bucket("tensorflow.nn.relu", LiteralValue(1)),
        bucket("tensorflow.keras.layers.Embedding", TABLE),
        bucket("tensorflow.raw_ops.Relu", LiteralValue(1)),
    ],
)
def test_what_a_program_may_call_keeps_its_weight_and_raises_its_group(reachable: Bucket) -> None:
    hidden = bucket(RAW, TABLE)

    weighed = with_reach([hidden, reachable])

    assert [b.finding.severity for b in weighed] == [Severity.CRITICAL, Severity.CRITICAL]
    assert with_reach([hidden])[0].finding.severity is Severity.LOW


def test_a_group_that_becomes_reachable_gets_its_weight_back() -> None:
    (hidden,) = with_reach([bucket(RAW, TABLE)])
    stored = bucket_from_json(bucket_to_json(hidden))

    again, _ = with_reach([stored, bucket("tensorflow.nn.relu", LiteralValue(1))])

    assert stored.finding.evidence.unreachable
    assert again.finding.severity is Severity.CRITICAL
    assert again.finding.evidence.unreachable == ""


def test_another_cause_raises_nothing() -> None:
    other = replace(
        bucket("tensorflow.nn.relu", LiteralValue(1)), cause=replace(CAUSE, name="g1:1")
    )

    hidden, _ = with_reach([bucket(RAW, TABLE), other])

    assert hidden.finding.severity is Severity.LOW


def test_differences_are_left_as_they_are() -> None:
    met = bucket(RAW, TABLE)
    difference = replace(met, finding=replace(met.finding, oracle="differential"))

    assert with_reach([difference]) == [difference]
